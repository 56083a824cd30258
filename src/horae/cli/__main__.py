"""`python -m horae.cli`: the same program, for those who start it as a child process."""

from horae.cli import main

if __name__ == "__main__":
    main()
