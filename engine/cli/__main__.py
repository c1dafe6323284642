"""`python -m engine.cli`, and under torchrun `torchrun -m engine.cli`: the command line as a module."""

from engine.cli.interrupt import ended_at_once

with ended_at_once():
    from engine.cli.main import main

raise SystemExit(main())
