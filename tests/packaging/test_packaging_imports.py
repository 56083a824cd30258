"""What a program pays that only declares tasks or prints a help text: judged by what is imported, not by the clock."""

import subprocess
import sys

DECLARE = """
import horae

app = horae.App()

@app.task
def double(number: int) -> int:
    return 2 * number
"""
HELP = "from horae.cli.program import run; run([{}])"
HEAVY = {"aiohttp", "asyncpg", "jsonschema_rs", "obstore", "psutil", "uvicorn", "uvloop"}


def loaded(code: str) -> set[str]:
    """What comes from beyond the standard library, in a process of its own."""
    script = f"{code}\nimport sys\nprint('LOADED', *{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.rpartition("LOADED")[2].split()) - sys.stdlib_module_names - {"__main__"}


def test_importing_horae_imports_nothing_else() -> None:
    # What site-packages load into every Python by .pth files is not ours.
    assert loaded("import horae") - loaded("") == {"horae"}


def test_declaring_a_task_imports_little() -> None:
    assert loaded(DECLARE) - loaded("") <= {"horae", "msgspec", "typing_extensions"}


def test_help_imports_no_part_that_serves_or_connects() -> None:
    for command in ("'--help'", "'submit', '--help'", "'up', '--help'", "'worker', '--help'"):
        assert not loaded(HELP.format(command)) & HEAVY, command
