"""Other forms of a script: a package of several files, a notebook, made of the same parts."""
