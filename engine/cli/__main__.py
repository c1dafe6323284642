"""`python -m engine.cli`, and under torchrun `torchrun -m engine.cli`: the command line as a module."""

from engine.cli.main import main

raise SystemExit(main())
