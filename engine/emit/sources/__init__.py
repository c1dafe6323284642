"""Reading a file of a known form in straight lines, as one writes them by hand: one module a kind of source.

The application reads strictly, with a diagnosis for whatever is wrong; a script says what was found out when
the file was opened. Tests hold that both give the same numbers to the last bit.
"""
