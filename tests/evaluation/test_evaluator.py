"""Figures of an evaluation: they are those of the metrics, by light and by person, and they know their place."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from lightproof.datasets import FaceSet, make_relit_faces
from lightproof.errors import BadImage, BadLabels, BadParameter
from lightproof.evaluation import evaluate
from lightproof.evaluation.evaluation_report import evaluation_page, evaluation_tables, setting, summary
from lightproof.evaluation.light_groups import degrees_aside, light_groups
from lightproof.evaluation.mistakes import KINDS, Album, worst_mistakes
from lightproof.evaluation.rates_by_light import MEASURES, Judge, thinned
from lightproof.evaluation.trials import Answers, Pairs, Trials, make_draws
from lightproof.gallery import Gallery
from lightproof.matching.calibration import ImpostorModel, score_of
from lightproof.metrics import roc, share_by_person


def answers(photo, named, lead, rank, draw=0) -> Answers:
    whole = [np.array(values, dtype=np.intp) for values in (photo, [draw] * len(photo), named, rank)]
    return Answers(*whole[:3], np.array(lead, dtype=float), whole[3])


PEOPLE = np.array([0, 0, 1, 1, 2, 2])


@pytest.fixture
def trials() -> Trials:
    """Persons 0 and 1 are enrolled, 2 is a stranger. Photo 3 is taken for person 0."""
    known = answers([0, 1, 2, 3], [0, 0, 1, 0], [9.0, 1.0, 5.0, 6.0], [1, 1, 1, 2])
    strangers = answers([4, 5], [0, 1], [7.0, 2.0], [0, 0])
    pairs = Pairs(np.arange(6), np.array([9.0, 1.0, 5.0, 0.0, 2.0, 3.0]), np.array([True] * 4 + [False] * 2))
    return Trials(known, known, strangers, pairs, 2)


# 1 in 100 strangers leads by 4 or more.
USUAL = ImpostorModel(4 + np.log(-np.log(0.99)), 1.0)


def test_figures_by_hand(trials):
    judge = Judge(trials, PEOPLE, np.array(["front", "hard"] * 3), (0.5, 0.01), USUAL)
    found = {(f.measure, f.light, f.threshold, f.far): f for f in judge.figures()}
    assert USUAL.lead_at(0.01) == pytest.approx(4)
    assert {key: f.value for key, f in found.items() if key[1] == "all" and key[3] != 0.5} == {
        ("rank-1", "all", None, None): 0.75,
        # Genuine 0 1 5 9, impostors 2 3: at 2 half of each is wrong.
        ("equal error", "all", None, None): 0.5,
        # Nobody may pass: above 7 there is photo 0 alone.
        ("found", "all", "measured", 0.01): 0.25,
        ("misnamed", "all", "measured", 0.01): 0.0,
        ("strangers accepted", "all", "measured", 0.01): 0.0,
        # Above 4: photos 0 and 2, and photo 3 under a wrong name; stranger 4.
        ("found", "all", "used", 0.01): 0.5,
        ("misnamed", "all", "used", 0.01): 0.25,
        ("strangers accepted", "all", "used", 0.01): 0.5,
    }
    # One of two may pass: above 2.
    assert found["found", "all", "measured", 0.5].value == 0.5
    assert found["rank-1", "front", None, None].value == 1
    assert found["rank-1", "hard", None, None].value == 0.5
    assert found["strangers accepted", "hard", "used", 0.01].value == 0
    one = found["found", "all", "used", 0.01]
    assert (one.people, one.photos, one.questions) == (2, 4, 4)
    assert (one.low, one.high) == share_by_person(np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]))
    stranger = found["strangers accepted", "all", "used", 0.01]
    assert (stranger.people, stranger.low, stranger.high) == (1, None, None)


def test_without_strangers_or_without_known_people_only_what_can_be_asked_is_told(trials):
    nobody = answers([], [], [], [])
    no_strangers = Judge(replace(trials, strangers=nobody), PEOPLE, np.array(["front"] * 6), (0.01,), USUAL)
    assert {f.measure for f in no_strangers.figures()} == set(MEASURES) - {"strangers accepted"}
    assert no_strangers.curves()["all"].strangers is None
    pairs = Pairs(np.array([4, 5]), np.array([1.0, 2.0]), np.zeros(2, bool))
    only = Judge(Trials(nobody, nobody, trials.strangers, pairs, 2), PEOPLE, np.array(["front"] * 6), (0.01,), USUAL)
    assert {f.measure for f in only.figures()} == {"strangers accepted"}
    assert only.curves()["all"].cmc is None


def test_the_worst_mistakes_by_hand(trials):
    images = np.arange(6, dtype=np.uint8)[:, None, None] * np.ones((1, 2, 2), np.uint8)
    album = Album(images, "abcdef", PEOPLE, ["Ada", "Ben", "Cleo"], lambda draw, who, asked: 2 * who)
    stranger, another, missed = worst_mistakes(trials, USUAL, 0.01, album)
    assert [m.kind for m in (stranger, another, missed)] == list(KINDS)
    assert (stranger.file, stranger.truth, stranger.nearest, stranger.true_face) == ("e", "Cleo", "Ada", None)
    assert stranger.score == score_of(USUAL.chance(np.array(7.0)))
    assert (another.file, another.truth, another.nearest) == ("d", "Ben", "Ada")
    assert [face[0, 0] for face in (another.face, another.nearest_face, another.true_face)] == [3, 0, 2]
    assert (missed.file, missed.truth, missed.nearest, missed.lead) == ("b", "Ada", "Ada", 1.0)


def test_a_photo_is_shown_once_a_kind_and_a_dozen_at_most():
    photos = np.tile(np.arange(20), 2)
    lead = np.concatenate([np.arange(20.0), np.arange(20.0) + 30]) + 10
    many = answers(photos, [0] * 40, lead, [0] * 40)
    nobody = answers([], [], [], [])
    trials = Trials(nobody, nobody, many, Pairs(photos, lead, photos > 0), 1)
    album = Album(
        np.zeros((20, 2, 2), np.uint8), "abcdefghijklmnopqrst", np.ones(20, int), "AB", lambda draw, who, asked: None
    )
    shown = worst_mistakes(trials, USUAL, 0.01, album)
    assert [m.file for m in shown] == list("tsrqponmlkji")
    assert [m.lead for m in shown[:2]] == [59, 58]


def test_light_stands_at_its_angle_to_the_camera():
    np.testing.assert_allclose(
        degrees_aside(np.array([0, 25, 0, 90, 180]), np.array([0, 0, 60, 45, 0])), [0, 25, 60, 90, 180]
    )


def test_light_is_taken_from_the_set_or_read_off_the_face(people):
    said = light_groups(people)
    np.testing.assert_array_equal(said[:5], ["front", "front", "side", "hard", "hard"])
    n = len(people)
    unsaid = replace(people, azimuths=np.full(n, np.nan), elevations=np.full(n, np.nan))
    assert np.mean(light_groups(unsaid) == said) > 0.7
    black = replace(unsaid.take(np.arange(1)), images=np.ones((1, 72, 63), np.uint8))
    np.testing.assert_array_equal(light_groups(black), ["unknown"])


def test_a_thinned_curve_keeps_its_ends_and_its_place(rng):
    whole = roc(rng.normal(2, 1, 4000), rng.normal(0, 1, 20000))
    thin = thinned(whole)
    assert len(thin.far) < 2000 < len(whole.far)
    assert (thin.far[0], thin.frr[0], thin.far[-1], thin.frr[-1]) == (1, 0, 0, 1)
    assert set(zip(thin.far, thin.frr, strict=True)) <= set(zip(whole.far, whole.frr, strict=True))
    assert np.abs(np.diff(thin.frr)).max() < 0.01


def test_an_evaluation_counts_people_photos_and_strangers(evaluated):
    assert (evaluated.n_people, evaluated.n_photos, evaluated.n_enrolled, evaluated.n_strangers) == (6, 30, 3, 3)
    assert evaluated.stranger_questions == 3 * 3 * 5
    named = evaluated.figure("rank-1")
    assert (named.people, named.questions) == (6, 3 * 24)
    assert list(evaluated.curves) == ["all", "front", "side", "hard"]
    for figure in evaluated.figures:
        assert 0 <= figure.value <= 1
        assert figure.low is None or figure.low <= figure.value + 1e-12 <= figure.high + 1e-9
    for far in evaluated.fars:
        assert evaluated.figure("strangers accepted", "all", "measured", far).value <= far
    assert evaluated.curves["all"].cmc[0] == named.value
    assert evaluated.figure("rank-1", "moonlight") is None


def test_rows_are_plain_and_complete(evaluated):
    rows = evaluated.rows()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    figures = [row for row in rows if row["row"] == "figure"]
    # Two figures without a threshold; three at two kinds of threshold for two rates.
    assert len(figures) == 4 * (2 + 3 * 2 * 2)
    assert len(rows) - len(figures) == len(evaluated.mistakes) <= 12
    assert {row["measure"] for row in figures} == set(MEASURES)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures_and_more_photos_help(people, evaluated):
    again = evaluate(people, preset="fast", draws=3, fars=(0.1, 0.01))
    assert again.rows() == evaluated.rows()
    other = evaluate(people, preset="fast", draws=3, fars=(0.1, 0.01), seed=1)
    assert other.rows() != evaluated.rows()
    more = evaluate(people, preset="fast", photos=4, draws=3, fars=(0.1, 0.01))
    assert more.figure("rank-1").value > evaluated.figure("rank-1").value


def test_a_real_gallery_names_its_people_and_keeps_strangers_out(tmp_path, people):
    front = people.take(people.azimuths == 0)
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        for i in range(4):
            gallery.enroll(str(front.labels[i]), [front.images[i]])
        asked = people.take(people.azimuths == 10)
        found = evaluate(asked, gallery=gallery, fars=(0.01,))
        answered = [gallery.identify(image, far=0.01) for image in asked.images]
    assert (found.n_people, found.n_enrolled, found.n_strangers, found.draws) == (6, 4, 2, 1)
    assert found.figure("rank-1").value == 1
    named = [answer.name == label for answer, label in zip(answered, asked.labels, strict=True)][:4]
    assert found.figure("found", "all", "used", 0.01).value == np.mean(named)
    accepted = [answer.known for answer in answered][4:]
    assert found.figure("strangers accepted", "all", "used", 0.01).value == np.mean(accepted)


@pytest.mark.slow
@pytest.mark.parametrize("photos", [1, 3])
def test_what_is_drawn_is_what_a_gallery_of_the_same_photos_does(tmp_path, people, photos):
    fars = (0.5, 0.1, 0.01)  # no photo lies just at one of them: a gallery rounds lights and levels
    drawn = evaluate(people, preset="fast", photos=photos, draws=1, fars=fars)
    names, places = np.unique(people.labels, return_inverse=True)
    (draw,) = make_draws(places, photos, 1, seed=0)
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        for name, enrolled, stranger in zip(names, draw.enrolled, draw.strangers, strict=True):
            if not stranger:
                gallery.enroll(str(name), people.images[list(enrolled)])
        asked = people.take(draw.probes(len(people)) | draw.strangers[places])
        found = evaluate(asked, gallery=gallery, fars=fars)
    figures = [(far, what) for far in fars for what in ("found", "misnamed", "strangers accepted")]
    values = [[each.figure(what, "all", "used", far).value for far, what in figures] for each in (drawn, found)]
    assert values[0] == values[1]
    assert len(set(values[0])) > 2


def test_with_a_gallery_a_mistake_is_never_shown_beside_itself(tmp_path, people):
    front = people.take(people.azimuths == 0)
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        for i in range(6):
            gallery.enroll(str(front.labels[i]), [front.images[(i + 1) % 6]])  # everybody under a wrong name
        found = evaluate(people, gallery=gallery, fars=(0.01,))
        alone = evaluate(people.take(np.array([4])), gallery=gallery, fars=(0.01,))
    assert found.mistakes
    for mistake in found.mistakes:
        for face in (mistake.nearest_face, mistake.true_face):
            assert face is not None
            assert (face != mistake.face).any()
    (mistake,) = alone.mistakes
    assert mistake.true_face is None


@pytest.mark.parametrize("who", ["known", "stranger"])
def test_a_gallery_can_be_asked_about_a_single_photo(tmp_path, people, who):
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        gallery.enroll(str(people.labels[0]), [people.images[0]])
        found = evaluate(people.take(np.array([1 if who == "known" else 6])), gallery=gallery, fars=(0.01,))
    known = who == "known"
    assert {figure.measure for figure in found.figures} == (
        {"rank-1", "found", "misnamed"} if known else {"strangers accepted"}
    )
    assert [figure.low for figure in found.figures] == [None] * len(found.figures)
    tables = evaluation_tables(found)
    assert [table.lines[0][1:] for table in tables] == (
        [["1", "100.0", "-"], ["100.0", "0.0", "-", "-"]] if known else [["0", "-", "-"], ["-", "-", "0.0", "-"]]
    )
    assert all(table.note.endswith("A dash: not available, since there was nothing to ask.") for table in tables)
    said = "There are no strangers among the photos." if known else "There are only strangers among the photos."
    assert setting(found).endswith(said)
    finds = "finds 100.0 % of the photos of its people." if known else "lets in 0.0 %."
    assert summary(found)[-1] == f"Meant to let in 1 % of strangers, a gallery {finds}"
    page = evaluation_page(found, "x")
    assert ("There is nothing to draw." in page) == (not known)


def test_a_gallery_of_nobody_is_refused(tmp_path, people):
    with (
        Gallery.open(tmp_path / "none.gallery", preset="fast") as gallery,
        pytest.raises(BadLabels, match="The gallery must be of one or more people; got nobody"),
    ):
        evaluate(people, gallery=gallery)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"photos": 0}, "`photos` of evaluate must be a whole number of at least 1; got 0"),
        ({"draws": 1.5}, "`draws` of evaluate must be a whole number of at least 1; got 1.5"),
        ({"seed": -1}, "`seed` of evaluate must be a whole number of at least 0; got -1"),
        ({"fars": (2,)}, "`far` of evaluate must be a share from 1e-06 to below 1, such as 0.001; got 2"),
        ({"fars": ()}, "`fars` of evaluate must be one or more shares"),
        ({"preset": "paper"}, "`preset` of Gallery must be one of 'robust', 'fast'; got 'paper'"),
    ],
)
def test_what_is_outside_its_legal_values_is_refused(people, wrong, sentence):
    with pytest.raises(BadParameter, match=sentence.replace("(", r"\(")):
        evaluate(people, **wrong)


def test_no_photo_and_blank_photos_are_refused(people):
    with pytest.raises(BadLabels, match="The faces to evaluate must be of two or more people; got no photo"):
        evaluate(people.take(np.zeros(len(people), bool)))
    blank: FaceSet = replace(people, images=np.where(np.arange(30)[:, None, None] == 7, np.uint8(9), people.images))
    with pytest.raises(BadImage, match="7"):
        evaluate(blank)


def test_two_people_are_enough():
    pair = make_relit_faces(2, [(0, 0), (10, 0)], size=(72, 63))
    found = evaluate(pair.take(np.array([0, 1, 2])), preset="fast", draws=2)
    assert (found.n_enrolled, found.n_strangers) == (1, 1)
    assert found.figure("found", "all", "used", 0.01).people == 1
