"""Readers that turn Python into a project: what an export became, read back.

A reader never executes what it reads. It knows no second grammar of layers, losses and loops: a node type
says how it is written (`emit`), and a line is a node of that type where some values of its parameters write
this line (`fitting`). What is read is written once more in the end and compared with the file (`compare`).
"""
