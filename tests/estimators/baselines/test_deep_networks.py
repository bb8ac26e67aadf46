from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import BadImage, BadLabels, BadParameter, MissingExtra
from lightproof.estimators.baselines import deep_networks
from lightproof.estimators.baselines.deep_networks import BETA, SLOPE, NetworkClassifier, in_batches, relit_copies
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.method.illumination import relight

pytestmark = pytest.mark.slow

SMALL = {"size": (32, 32), "threads": 1, "epochs": 1}


@pytest.fixture
def torch():
    pytest.importorskip("pytorchcv")
    return pytest.importorskip("torch")


@pytest.fixture
def quick(torch, monkeypatch):
    """Put a network of two layers in the place of the deep ones, for what is true of every network."""

    def build(architecture, size, people):
        layers = (
            torch.nn.Flatten(),
            torch.nn.Linear(size[0] * size[1], 16),
            torch.nn.Dropout(),
            torch.nn.Linear(16, people),
        )
        return torch.nn.Sequential(*layers)

    monkeypatch.setattr(deep_networks, "build_network", build)
    return torch


def two_textures(photos: int, seed: int = 0):
    """Stripes against checks, each photo with its own noise: nobody could take one for the other."""
    stripes = np.tile([0.0, 0.0, 1.0, 1.0], (32, 8))
    checks = np.abs(stripes - stripes.T)
    clean = np.repeat([stripes, checks], photos, axis=0)
    noise = np.random.default_rng(seed).random(clean.shape)
    return 0.8 * clean + 0.2 * noise, np.repeat(["stripes", "checks"], photos)


@pytest.mark.parametrize("size", [(64, 64), (48, 48), (32, 64)])
@pytest.mark.parametrize("architecture", deep_networks.ARCHITECTURES)
def test_each_network_takes_each_size(torch, architecture, size):
    with torch.device("meta"):  # shapes without numbers
        net = deep_networks.build_network(architecture, size, people=3)
        assert net(torch.zeros(2, 1, *size)).shape == (2, 3)


@pytest.mark.parametrize("architecture", deep_networks.ARCHITECTURES)
def test_each_network_fits_and_names_people(torch, frontal, lit, architecture):
    model = NetworkClassifier(architecture=architecture, **SMALL).fit(frontal.images, frontal.labels)
    named = model.predict(lit.images)
    assert named.shape == (len(lit.images),)
    assert set(named) <= set(model.classes_) == set(frontal.labels)
    assert (model.iterations_, model.cut_short_) == (1, False)


def test_a_network_learns_and_knows_new_photos(torch):
    images, labels = two_textures(5)
    model = NetworkClassifier(architecture="densenet121", batch=5, **SMALL | {"epochs": 10}).fit(images, labels)
    unseen, truth = two_textures(5, seed=1)
    assert np.array_equal(model.predict(unseen), truth)


def test_a_relit_copy_is_the_formula():
    image = np.array([[[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]]])
    relit = relight(image, np.array([2.0]), np.array([5.0]), np.array([[100.0, 1.0]]))
    assert relit.tolist() == [[[25.0, 45.5, 66.0], [185.0, 205.5, 226.0]]]


def test_relit_copies_keep_to_the_ranges_of_the_paper_and_are_clipped():
    black = np.zeros((200, 32, 32), np.float32)
    relit = 255.0 * relit_copies(black, np.random.default_rng(0))
    beta, down, across = relit[:, 0, 0], relit[:, -1, 0] - relit[:, 0, 0], relit[:, 0, -1] - relit[:, 0, 0]
    for values, (low, high) in [(beta, BETA), (down, SLOPE), (across, SLOPE)]:
        assert low - 1e-4 <= values.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < values.max() <= high + 1e-4
    assert not np.allclose(down, across)
    gray = relit_copies(np.full((200, 32, 32), 1.0, np.float32), np.random.default_rng(0))
    assert gray.max() == 1.0
    assert gray.dtype == np.float32


def divided(who, copies, seed=0):
    who = np.array(who)
    images = np.repeat((1 + np.arange(len(who), dtype=np.float32))[:, None, None] / 1000, 4, axis=1)
    return deep_networks.divide(images, who, copies, np.random.default_rng(seed))


def test_one_photo_a_person_all_train_and_validate():
    photos = divided(range(38), copies=0)
    assert np.array_equal(photos.who, np.arange(38))
    assert np.array_equal(photos.unseen, photos.images)
    assert photos.unseen_kind == "the 38 training photos"


def test_one_photo_a_person_with_copies_a_tenth_of_the_copies_validates():
    photos = divided(range(38), copies=5)
    assert set(photos.who) == set(range(38))
    assert (len(photos.who), len(photos.unseen)) == (38 + 171, 19)
    assert np.array_equal(photos.who[:38], np.arange(38)), "every photo itself trains"
    assert photos.unseen_kind == "19 held-back relit copies"


@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.integers(0, 3), st.integers(0, 9))
def test_every_person_trains_and_nothing_both_trains_and_validates(who, copies, seed):
    photos = divided(who, copies, seed)
    assert set(photos.who) == set(who)
    if len(set(who)) == len(who) and not copies:
        return
    held = len(photos.unseen)
    assert held >= 1
    seen = {image.tobytes() for image in photos.images}
    assert not any(image.tobytes() in seen for image in photos.unseen)
    if len(set(who)) < len(who):  # photos are held back, and none of their copies trains
        assert held == min(max(1, round(len(who) / 10)), len(who) - len(set(who)))
        assert len(photos.images) == (len(who) - held) * (1 + copies)


@given(st.integers(2, 200), st.integers(2, 40))
def test_batches_hold_every_photo_once_and_never_one_alone(n, size):
    batches = in_batches(np.arange(n), size)
    assert np.array_equal(np.concatenate(batches), np.arange(n))
    assert all(2 <= len(batch) <= size + 1 for batch in batches)


def test_a_last_batch_of_one_trains(torch):
    images, labels = two_textures(3)  # one of six is held back, so five train, in batches of two
    model = NetworkClassifier(architecture="densenet121", batch=2, **SMALL).fit(images, labels)
    assert model.iterations_ == 2


def test_same_seed_same_network_and_the_callers_randomness_is_left_alone(quick):
    torch = quick
    images, labels = two_textures(4)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    states = []
    for seed in (1, 1, 2):
        model = NetworkClassifier(augment=True, seed=seed, **SMALL).fit(images, labels)
        states.append(torch.cat([value.flatten().double() for value in model.network_.state_dict().values()]))
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])
    assert torch.equal(torch.rand(3), expected)


def test_the_threads_are_given_back(quick):
    torch = quick
    before = torch.get_num_threads()
    images, labels = two_textures(2)
    with deep_networks._threads(torch, before + 1):
        assert torch.get_num_threads() == before + 1
    NetworkClassifier(**SMALL | {"threads": before + 1}).fit(images, labels)
    assert torch.get_num_threads() == before


def test_the_budget_cuts_short_and_says_so(quick):
    images, labels = two_textures(4)
    model = NetworkClassifier(budget=1e-6, **SMALL | {"epochs": 9}).fit(images, labels)
    assert (model.iterations_, model.cut_short_) == (1, True)
    pattern = r"best of 1 validation on 1 held-back photo: [\d.]+ % at iteration 1 of 1, cut short after \d+ s"
    assert re.fullmatch(pattern, model.chosen_)


def test_a_budget_that_is_enough_is_not_spoken_of(quick):
    images, labels = two_textures(4)
    model = NetworkClassifier(budget=600, **SMALL).fit(images, labels)
    assert not model.cut_short_
    assert "cut short" not in model.chosen_


class Numbered:
    """Stands for a network: its state is a number."""

    def __init__(self, torch):
        self.number = torch.zeros(1)

    def state_dict(self):
        return {"number": self.number}


def test_the_latest_of_the_best_states_answers(torch):
    net, best = Numbered(torch), deep_networks._Best()
    for iteration, accuracy in [(10, 0.5), (20, 0.75), (30, 0.75), (40, 0.25)]:
        net.number.fill_(iteration)
        best.take(accuracy, iteration, net)
    assert best.state["number"].item() == 30
    assert best.summary("8 held-back photos") == "best of 4 validations on 8 held-back photos: 75.0 % at iteration 30"


def test_it_validates_every_ten_iterations_and_after_the_last(quick, monkeypatch):
    asked = []
    monkeypatch.setattr(deep_networks._Best, "take", lambda self, accuracy, iteration, net: asked.append(iteration))
    images, labels = two_textures(4)
    with pytest.raises(RuntimeError, match="Missing key"):  # nothing was kept here
        NetworkClassifier(**SMALL | {"epochs": 23}).fit(images, labels)
    assert asked == [10, 20, 23]


def test_the_best_state_is_put_back(quick, monkeypatch):
    accuracies = iter([1.0, 0.0, 0.0])
    states = []
    take = deep_networks._Best.take

    def scripted(self, accuracy, iteration, net):
        states.append(net[1].bias.detach().clone())
        take(self, next(accuracies), iteration, net)

    monkeypatch.setattr(deep_networks._Best, "take", scripted)
    images, labels = two_textures(4)
    model = NetworkClassifier(**SMALL | {"epochs": 23}).fit(images, labels)
    assert quick.equal(model.network_[1].bias, states[0])
    assert not quick.equal(states[0], states[2])
    assert model.chosen_ == "best of 3 validations on 1 held-back photo: 100.0 % at iteration 10 of 23"


def test_pictures_are_answered_alone_as_in_a_crowd(quick, monkeypatch):
    images, labels = two_textures(4)
    model = NetworkClassifier(**SMALL).fit(images, labels)
    together = model.predict(images)
    monkeypatch.setattr(deep_networks, "IMAGES_PER_BLOCK", 3)
    assert np.array_equal(model.predict(images), together)
    assert [model.predict(image[None])[0] for image in images] == list(together)


@pytest.mark.parametrize("module", ["torch", "pytorchcv.model_provider"])
def test_without_the_extra_the_pip_line_is_told(monkeypatch, module):
    if module != "torch":
        pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, module, None)
    sentence = r"^The networks need PyTorch and pytorchcv; install them with: pip install 'lightproof\[deep\]'\.$"
    with pytest.raises(MissingExtra, match=sentence):
        NetworkClassifier(**SMALL).fit(*two_textures(2))


def test_the_module_imports_without_torch():
    module = "lightproof.estimators.baselines.deep_networks"
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'pytorchcv' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "legal"),
    [
        ("architecture", "alexnet", "one of 'vgg16', 'resnet50', 'densenet121'; got 'alexnet'"),
        ("architecture", ["vgg16"], "one of 'vgg16'"),
        ("augment", "yes", "True or False; got 'yes'"),
        ("copies", 0, "an int of 1 or more; got 0"),
        ("size", (31, 64), r"\(rows, columns\) of 32 or more each; got \(31, 64\)"),
        ("size", 64, r"\(rows, columns\) of 32 or more each; got 64"),
        ("learning_rate", 0, "a number above 0; got 0"),
        ("learning_rate", float("nan"), "a number above 0; got nan"),
        ("batch", 1, "an int of 2 or more; got 1"),
        ("epochs", 1.5, "an int of 1 or more; got 1.5"),
        ("budget", 0, "a number of seconds above 0, or None; got 0"),
        ("budget", -3.0, "a number of seconds above 0, or None; got -3.0"),
        ("budget", True, "a number of seconds above 0, or None; got True"),
        ("seed", -1, r"an int from 0 to 2\*\*32 - 1; got -1"),
        ("threads", 0, "an int of 1 or more, or None; got 0"),
    ],
)
def test_a_bad_parameter_gets_one_sentence(name, value, legal):
    with pytest.raises(BadParameter, match=f"^`{name}` of NetworkClassifier must be {legal}"):
        NetworkClassifier(**{name: value}).fit(*two_textures(2))


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta", None, 1.5])
def test_a_device_that_torch_cannot_use_gets_one_sentence(torch, device):
    legal = "a device that this PyTorch can use, such as 'cpu'"
    with pytest.raises(BadParameter, match=f"^`device` of NetworkClassifier must be {legal}; got {device!r}\\.$"):
        NetworkClassifier(device=device).fit(*two_textures(2))


def test_one_person_is_nothing_to_tell_apart(torch):
    with pytest.raises(BadLabels, match=r"^y must be the names of at least two people; got only 'Ann'"):
        NetworkClassifier().fit(np.zeros((2, 32, 32)), ["Ann", "Ann"])


def test_bad_images_and_labels_are_refused(torch):
    with pytest.raises(BadImage, match="colour"):
        NetworkClassifier().fit(np.zeros((2, 32, 32, 3)), ["Ann", "Bob"])
    with pytest.raises(BadLabels, match="one label for each of the 2 images; got 1"):
        NetworkClassifier().fit(np.zeros((2, 32, 32)), ["Ann"])


def test_predict_before_fit_is_refused():
    with pytest.raises(NotFitted, match=r"NetworkClassifier\.predict must come after fit"):
        NetworkClassifier().predict(np.zeros((1, 32, 32)))
