"""Packages made on the spot, so that nothing comes from a network."""

import zipfile
from pathlib import Path


def make_wheel(folder: Path, name: str, version: str = "1.0", body: str = "WORD = 'hello'", padding: int = 0) -> None:
    info = f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", body + "\n")
        wheel.writestr(f"{name}/padding", "x" * padding)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{name}/__init__.py,,\n{name}/padding,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")
