"""The documentation is true: every code block runs, every reference table is compared with the program."""
