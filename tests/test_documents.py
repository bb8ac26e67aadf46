"""What the documents say is what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_the_example_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    assert capsys.readouterr().out


def test_the_block_in_the_readme_is_the_first_example():
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block
    code = (ROOT / "examples" / "first_match.py").read_text().split('"""\n\n', 1)[1]
    assert block.group(1) == code


@pytest.mark.parametrize("document", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"], ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(document):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_name_in_the_map_of_symbols_exists():
    """docs/method.md names code as `module.name`; each must be there."""
    import importlib

    text = (ROOT / "docs" / "method.md").read_text()
    named = set(re.findall(r"`((?:\w+\.)+\w+)`", text))
    found = 0
    for name in named:
        room, _, rest = name.partition(".")
        if not (ROOT / "src" / "lightproof" / f"{room}.py").exists() and room != "datasets":
            continue
        thing = importlib.import_module(f"lightproof.{room}")
        for part in rest.split("."):
            thing = getattr(thing, part)
        found += 1
    assert found >= 15


def test_every_test_named_in_the_documents_exists():
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for document in ROOT.glob("docs/*.md"):
        for name in re.findall(r"`(test_\w+)`", document.read_text()):
            assert f"def {name}(" in tests, name
