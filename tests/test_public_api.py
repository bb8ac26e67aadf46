from __future__ import annotations

import importlib
import inspect
import pkgutil
import tomllib
from pathlib import Path

import pytest

import lightproof
from lightproof import datasets
from lightproof.estimators import baselines

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(lightproof.__path__, "lightproof.") if not m.name.endswith("__main__")
)


@pytest.mark.parametrize("package", [lightproof, datasets, baselines])
def test_the_public_list_is_complete(package):
    public = {name for name in vars(package) if not name.startswith("_") and not inspect.ismodule(vars(package)[name])}
    assert public <= set(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert len(set(package.__all__)) == len(package.__all__)


def test_what_is_loaded_on_request_is_listed_and_what_does_not_exist_is_no_attribute():
    assert dir(lightproof) == sorted(lightproof.__all__)
    with pytest.raises(AttributeError, match=r"^module 'lightproof' has no attribute 'FaceRecogniser'$"):
        lightproof.FaceRecogniser  # noqa: B018


def test_every_public_function_and_class_is_documented():
    silent = []
    for name in MODULES:
        module = importlib.import_module(name)
        silent += [] if module.__doc__ else [name]
        for key, thing in vars(module).items():
            local = getattr(thing, "__module__", None) == name and not key.startswith("_")
            if local and (inspect.isfunction(thing) or inspect.isclass(thing)) and not thing.__doc__:
                silent.append(f"{name}.{key}")
    assert silent == []


def test_the_ground_floor_names_its_equations():
    from lightproof.method import aggregate, subspace_bank, transform

    wanted = {
        transform.discrete_cdt: "Definition 3.1",
        transform.discrete_rcdt: "Definition 3.2",
        transform.wasserstein_1d: "eq. (dcdtembedding)",
        transform.sliced_wasserstein: "eq. (dsw)",
        transform.translation_vectors: "eq. (subspace)",
        transform.projection_angles: "Remark 3.1",
        subspace_bank.residuals: "equation of Testing",
        aggregate.plain: "eq. (dis)",
    }
    for function, equation in wanted.items():
        assert equation in (function.__doc__ or ""), function


def test_the_version_is_that_of_the_project_file():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert lightproof.__version__ == project["version"]
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {project['version']}" in (ROOT / "CITATION.cff").read_text()
