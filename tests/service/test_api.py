"""What can be asked over HTTP, and what is answered."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from lightproof.gallery import Gallery
from lightproof.service import schemas
from lightproof.service.client import from_json
from lightproof.service.settings import Settings
from tests.scenes import compose, seat
from tests.service.conftest import FREE, png
from tests.service.in_process import files, problem, serving

pytestmark = pytest.mark.slow

CROPPED = {"cropped": "true"}


def ask(client, place, photo, **fields):
    return client.post(f"/v1/{place}", data=CROPPED | fields, files=files(photo, field="photo"))


def read(kind, answer, status=200):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    return from_json(kind, answer.json())


def people(client, **query):
    return read(schemas.PeoplePageSchema, client.get("/v1/people", params=query))


def number_of(client, name):
    [found] = people(client, name=name).people
    return found.id


def test_health_and_version_tell_what_runs(client):
    assert client.get("/v1/health").json() == {"status": "ok"}
    told = read(schemas.VersionSchema, client.get("/v1/version"))
    assert (told.preset, told.keeps_photos, told.liveness) == ("fast", True, "none")
    assert (told.people, told.photos) == (4, 8)
    assert told.limits.photos == FREE.photos


def test_somebody_is_enrolled_found_renamed_and_deleted(newcomer, shots):
    sent = newcomer.post("/v1/people", data={"name": "Ada", **CROPPED}, files=files(shots["Ada"]["front"]))
    made = read(schemas.EnrolledSchema, sent, 201)
    assert (made.person.name, made.person.photos, len(made.added), made.known, made.rejected) == ("Ada", 1, 1, [], [])
    assert made.person.advice.has == ["front"]
    who = made.person.id
    answer = read(schemas.AnswerSchema, ask(newcomer, "identify", shots["Ada"]["left"]))
    assert (answer.answer, answer.person, answer.name) == ("known", who, "Ada")
    assert answer.score >= answer.threshold == pytest.approx(0.5)
    renamed = read(schemas.PersonDetailSchema, newcomer.patch(f"/v1/people/{who}", json={"name": "Ada Lovelace"}))
    assert (renamed.id, renamed.name) == (who, "Ada Lovelace")
    assert read(schemas.AnswerSchema, ask(newcomer, "identify", shots["Ada"]["left"])).name == "Ada Lovelace"
    assert read(schemas.ForgottenSchema, newcomer.delete(f"/v1/people/{who}")) == schemas.ForgottenSchema(1, 1, None)
    gone = read(schemas.AnswerSchema, ask(newcomer, "identify", shots["Ada"]["left"]))
    assert (gone.answer, gone.name, gone.candidates) == ("unknown", None, [])
    assert gone.sentence == "Unknown: nobody is enrolled."


def test_what_the_service_enrolls_the_command_line_finds_and_the_other_way_round(newcomer, empty, shots):
    newcomer.post("/v1/people", data={"name": "Ada", **CROPPED}, files=files(shots["Ada"]["front"]))
    with Gallery.open(empty) as gallery:
        assert gallery.identify(shots["Ada"]["left"], cropped=True).name == "Ada"
        gallery.enroll("Ben", [shots["Ben"]["front"]], cropped=True)
    assert read(schemas.AnswerSchema, ask(newcomer, "identify", shots["Ben"]["left"])).name == "Ben"


def test_a_stranger_is_an_answer(client, shots):
    answer = read(schemas.AnswerSchema, ask(client, "identify", shots["Eve"]["front"]))
    assert (answer.answer, answer.person, answer.name) == ("unknown", None, None)
    assert answer.score < answer.threshold
    assert len(answer.candidates) == 4
    assert answer.sentence.startswith("Unknown: the nearest is ")


def test_an_answer_tells_score_threshold_meaning_and_light(client, shots):
    answer = read(schemas.AnswerSchema, ask(client, "identify", shots["Ben"]["right"], top="2", far="0.01"))
    assert answer.candidates[0].name == "Ben"
    assert len(answer.candidates) == 2
    assert answer.far == 0.01
    assert answer.threshold == pytest.approx(1 / 3)
    assert "one in a hundred" in answer.meaning
    assert answer.light.side == "left"
    assert "turn to your right" in answer.light.hint
    assert not answer.light.even
    assert answer.face is None
    for one in answer.candidates:
        assert one.score == pytest.approx(min(np.log10(one.one_in) / 6, 1), abs=1e-6)


def test_a_photograph_is_looked_through_for_its_face(photos_extra, newcomer):
    scene = compose(seat(1)[0])
    out = io.BytesIO()
    Image.fromarray(scene.photo).save(out, "JPEG", quality=92)
    sent = newcomer.post("/v1/people", data={"name": "Ada"}, files=files(out.getvalue()))
    assert read(schemas.EnrolledSchema, sent, 201).person.photos == 1
    answer = newcomer.post("/v1/identify", data={"quick": "true"}, files=files(png(scene.photo), field="photo"))
    told = read(schemas.AnswerSchema, answer)
    assert told.name == "Ada"
    assert told.face.faces == 1
    assert told.face.right_eye == pytest.approx([scene.eyes[0][0].real, scene.eyes[0][0].imag], abs=5)
    assert told.light.eye_distance == pytest.approx(80, abs=6)
    assert told.with_mesh


def with_mesh(client, shots):
    """What the answers to three questions say about a crop."""
    photo = shots["Ben"]["front"]
    sent = files(photo, field="photo") + files(shots["Ben"]["left"], field="other")
    told = client.post("/v1/verify", data=CROPPED, files=sent)
    yield read(schemas.VerificationSchema, told).with_mesh
    yield read(schemas.AnswerSchema, ask(client, "identify", photo)).with_mesh
    yield read(schemas.ExplanationSchema, ask(client, "explain", photo)).with_mesh


def test_answers_say_that_a_crop_has_a_mesh(photos_extra, client, shots):
    assert list(with_mesh(client, shots)) == [True] * 3


def test_without_the_extra_answers_say_that_a_crop_was_compared_as_it_came(no_extra, client, shots):
    assert list(with_mesh(client, shots)) == [False] * 3


def test_json_with_base64_says_the_same_as_a_form(client, shots):
    photo = shots["Ada"]["right"]
    form = read(schemas.AnswerSchema, ask(client, "identify", photo, top="3"))
    text = base64.b64encode(photo).decode()
    told = client.post("/v1/identify", json={"photo": text, "cropped": True, "top": 3})
    assert read(schemas.AnswerSchema, told) == form


def test_photos_are_taken_one_by_one_and_those_that_cannot_be_have_their_reason(client, shots):
    who = number_of(client, "Ada")
    sent = files(shots["Ada"]["right"], b"no picture", shots["Ada"]["front"], shots["Ben"]["front"], b"",
                 shots["Ada"]["right"])  # fmt: skip
    told = read(schemas.EnrolledSchema, client.post(f"/v1/people/{who}/photos", data=CROPPED, files=sent))
    assert len(told.added) == 1
    assert told.known == [2, 5]
    assert [(one.index, one.code) for one in told.rejected] == [
        (1, "bad_picture"),
        (3, "photo_of_another"),
        (4, "bad_picture"),
    ]
    assert told.rejected[1].detail == "Photo 4 must be new; got one that is enrolled as 'Ben'."
    assert told.person.photos == 3


def test_where_no_photo_can_be_taken_nobody_is_enrolled(client, shots):
    before = people(client)
    sent = client.post("/v1/people", data={"name": "Eve", **CROPPED}, files=files(b"nothing", shots["Ada"]["front"]))
    said = problem(sent, 422, "nothing_taken")
    assert said == "At least one photo must be usable; got 2 that were rejected."
    assert [one["code"] for one in sent.json()["rejected"]] == ["bad_picture", "photo_of_another"]
    assert people(client) == before


def test_somebody_may_be_entered_before_there_is_a_photo(client, shots):
    made = read(schemas.EnrolledSchema, client.post("/v1/people", json={"name": "Eve"}), 201)
    assert made.person.photos == 0
    assert read(schemas.AnswerSchema, ask(client, "identify", shots["Eve"]["left"])).name is None
    told = client.post(f"/v1/people/{made.person.id}/photos", data=CROPPED, files=files(shots["Eve"]["front"]))
    assert read(schemas.EnrolledSchema, told).person.photos == 1
    assert read(schemas.AnswerSchema, ask(client, "identify", shots["Eve"]["left"])).name == "Eve"


def test_people_come_page_by_page_in_order_and_nobody_twice(client):
    for i in range(23):
        assert client.post("/v1/people", json={"name": f"Zoe {i:02}"}).status_code == 201
    names, after = [], None
    while True:
        page = people(client, limit=5, **({} if after is None else {"after": after}))
        assert page.total == 27
        assert len(page.people) <= 5
        names += [one.name for one in page.people]
        after = page.next
        if after is None:
            break
    assert names == sorted(names)
    assert len(names) == 27
    assert [one.name for one in people(client, name="zoe 1").people] == [f"Zoe 1{i}" for i in range(10)]
    assert people(client, name="%").people == []


def test_a_name_may_be_any_that_the_gallery_takes(client):
    for name in ("Zoë/../../etc/passwd", "<b>Bold</b>", "名前", "O'Brien; DROP TABLE people", "%2e%2e"):
        made = read(schemas.EnrolledSchema, client.post("/v1/people", json={"name": name}), 201)
        assert read(schemas.PersonDetailSchema, client.get(f"/v1/people/{made.person.id}")).name == name
        assert [one.name for one in people(client, name=name).people] == [name]


def test_photos_are_listed_with_their_light_and_face(client, shots):
    who = number_of(client, "Ada")
    photos = read(schemas.PhotosSchema, client.get(f"/v1/people/{who}/photos")).photos
    assert sorted(photo.light for photo in photos) == ["front", "left"]
    for photo in photos:
        shown = client.get(f"/v1/people/{who}/photos/{photo.id}/thumbnail")
        assert shown.headers["content-type"] == "image/png"
        assert Image.open(io.BytesIO(shown.content)).size == (168, 192)


def test_with_its_last_photo_a_person_goes(client):
    who = number_of(client, "Ada")
    first, second = read(schemas.PhotosSchema, client.get(f"/v1/people/{who}/photos")).photos
    assert read(
        schemas.ForgottenSchema, client.delete(f"/v1/people/{who}/photos/{first.id}")
    ) == schemas.ForgottenSchema(0, 1, None)
    assert read(schemas.PersonDetailSchema, client.get(f"/v1/people/{who}")).photos == 1
    assert read(
        schemas.ForgottenSchema, client.delete(f"/v1/people/{who}/photos/{second.id}")
    ) == schemas.ForgottenSchema(1, 1, None)
    problem(client.get(f"/v1/people/{who}"), 404, "unknown_person")


def test_after_a_photo_is_deleted_answers_are_those_of_a_gallery_that_never_had_it(client, shots, tmp_path):
    who = number_of(client, "Ada")
    extra = client.post(f"/v1/people/{who}/photos", data=CROPPED, files=files(shots["Ada"]["right"]))
    before = read(schemas.AnswerSchema, ask(client, "identify", shots["Eve"]["left"]))
    added = read(schemas.EnrolledSchema, extra).added[0].id
    client.delete(f"/v1/people/{who}/photos/{added}")
    after = read(schemas.AnswerSchema, ask(client, "identify", shots["Eve"]["left"]))
    with Gallery.open(tmp_path / "other.gallery", preset="fast") as other:
        for name in ("Ada", "Ben", "Cleo", "Dan"):
            other.enroll(name, [shots[name]["front"], shots[name]["left"]], cropped=True)
        never = other.identify(shots["Eve"]["left"], cropped=True)
    assert [one.lead for one in after.candidates] == [one.lead for one in never.candidates]
    assert [one.lead for one in before.candidates] != [one.lead for one in after.candidates]


def test_two_photos_or_a_photo_and_a_person_are_verified(client, shots):
    sent = files(shots["Eve"]["front"], field="photo") + files(shots["Eve"]["left"], field="other")
    same = read(schemas.VerificationSchema, client.post("/v1/verify", data=CROPPED | {"far": "0.01"}, files=sent))
    assert same.same
    assert same.light.even
    assert not same.other_light.even
    sent = files(shots["Eve"]["front"], field="photo") + files(shots["Ben"]["left"], field="other")
    assert not read(
        schemas.VerificationSchema, client.post("/v1/verify", data=CROPPED | {"far": "0.01"}, files=sent)
    ).same
    ben = number_of(client, "Ben")
    told = read(schemas.VerificationSchema, ask(client, "verify", shots["Ben"]["right"], person=str(ben)))
    assert (told.same, told.other_light) == (True, None)
    assert told.sentence.startswith("The same person: ")
    assert not read(schemas.VerificationSchema, ask(client, "verify", shots["Ada"]["right"], person=str(ben))).same


@pytest.mark.parametrize("given", ["neither", "both"])
def test_verify_wants_one_thing_to_compare_with(client, shots, given):
    sent = files(shots["Eve"]["front"], field="photo")
    if given == "both":
        sent += files(shots["Eve"]["left"], field="other")
    fields = CROPPED | ({"person": "1"} if given == "both" else {})
    said = problem(client.post("/v1/verify", data=fields, files=sent), 422, "bad_value")
    assert said == f"`other` or `person` must be given; got {given}."


def test_the_patches_of_an_explanation_add_up_to_the_lead(client, shots):
    answer = read(schemas.AnswerSchema, ask(client, "identify", shots["Ada"]["right"]))
    told = read(schemas.ExplanationSchema, ask(client, "explain", shots["Ada"]["right"]))
    assert (told.name, told.person) == ("Ada", answer.person)
    assert len(told.patches) == told.rows * told.columns
    assert sum(patch.value for patch in told.patches) == pytest.approx(told.lead, abs=1e-4)
    assert told.lead == pytest.approx(answer.candidates[0].lead, abs=1e-4)
    assert Image.open(io.BytesIO(base64.b64decode(told.picture))).size == (told.width, told.height)
    ben = number_of(client, "Ben")
    both = read(schemas.ExplanationSchema, ask(client, "explain", shots["Ada"]["right"], against=str(ben)))
    assert (both.against, both.against_name) == (ben, "Ben")
    assert sum(patch.value for patch in both.patches) == pytest.approx(both.lead - both.against_lead, abs=1e-4)


def test_an_explanation_is_drawn_as_png(client, shots):
    drawn = ask(client, "explain/map", shots["Ada"]["right"])
    assert drawn.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(drawn.content)).width > 300


def test_the_light_alone_is_diagnosed_without_anybody_enrolled(newcomer, shots):
    told = read(schemas.DiagnosisSchema, ask(newcomer, "diagnose", shots["Eve"]["left"]))
    assert told.light.side == "right"
    assert told.face is None
    pose = (told.light.yaw, told.light.pitch, told.light.roll, told.light.mouth_open, told.light.eyes_open)
    assert None not in pose or pose == (None,) * 5
    problem(ask(newcomer, "explain", shots["Eve"]["left"]), 409, "nobody_enrolled")


def test_the_pose_of_a_crop_is_told_where_faces_can_be_found(newcomer, shots, photos_extra):
    told = read(schemas.DiagnosisSchema, ask(newcomer, "diagnose", shots["Eve"]["front"])).light
    assert max(abs(told.yaw), abs(told.pitch), abs(told.roll)) < 15
    assert told.mouth_open < 0.2 < 0.4 < told.eyes_open
    assert "head" not in told.hint


def test_the_threshold_is_set_by_calibration(client, shots):
    before = read(schemas.CalibrationSchema, client.get("/v1/calibration"))
    assert (before.calibrated, before.far, before.threshold) == (False, 0.001, pytest.approx(0.5))
    found = read(schemas.CalibrationSchema, client.post("/v1/calibrate", json={"far": 0.01}))
    assert (found.calibrated, found.strangers, found.far) == (True, 4, 0.01)
    assert read(schemas.CalibrationSchema, client.get("/v1/calibration")) == found
    answer = read(schemas.AnswerSchema, ask(client, "identify", shots["Ada"]["right"]))
    assert (answer.far, answer.calibrated) == (0.01, True)


def test_accuracy_is_told_by_light(client):
    told = read(schemas.AccuracySchema, client.get("/v1/accuracy"))
    assert (told.people, told.asked) == (4, 8)
    everything = told.lights[0]
    assert (everything.light, everything.named.of, everything.strangers.of) == ("all", 8, 8)
    assert sum(one.named.of for one in told.lights[1:]) == 8
    assert everything.named.share > 0.5


def test_a_gallery_goes_out_as_a_file_and_comes_in_again(client, newcomer, tmp_path, empty):
    sent = client.get("/v1/export")
    assert sent.headers["content-disposition"] == 'attachment; filename="people.gallery"'
    (tmp_path / "copy.gallery").write_bytes(sent.content)
    with Gallery.open(tmp_path / "copy.gallery", create=False) as copy:
        assert [person.name for person in copy.people()] == ["Ada", "Ben", "Cleo", "Dan"]
    kind = {"Content-Type": "application/octet-stream"}
    assert newcomer.post("/v1/import", content=sent.content, headers=kind).json() == {"people": 4}
    assert people(newcomer).total == 4
    # Faces are not kept where they were not asked to be.
    who = number_of(newcomer, "Ada")
    photo = read(schemas.PhotosSchema, newcomer.get(f"/v1/people/{who}/photos")).photos[0]
    assert not photo.has_thumbnail
    problem(newcomer.get(f"/v1/people/{who}/photos/{photo.id}/thumbnail"), 404, "face_not_kept")


def test_an_import_of_something_else_changes_nothing(client, tmp_path):
    kind = {"Content-Type": "application/octet-stream"}
    before = people(client)
    for body in (b"", b"SQLite format 3\0" + bytes(500), b"PK\3\4", bytes(10_000)):
        said = problem(client.post("/v1/import", content=body, headers=kind), 422, "bad_gallery")
        assert said.startswith("The file must be a gallery written by lightproof; got ")
        assert "/" not in said
    Gallery.open(tmp_path / "robust.gallery").close()
    other = (tmp_path / "robust.gallery").read_bytes()
    said = problem(client.post("/v1/import", content=other, headers=kind), 422, "bad_gallery")
    assert said.endswith("got templates made with other parameters than those of this gallery.")
    problem(client.post("/v1/import", json={}), 415, "unsupported_media_type")
    assert people(client) == before


def test_no_photo_is_kept_unless_asked(tmp_path, shots):
    """Neither in the gallery nor beside it, nor where the system keeps its temporary files."""
    for keep in (False, True):
        file = tmp_path / f"{keep}.gallery"
        Gallery.open(file, preset="fast", keep_photos=keep).close()
        with serving(Settings(str(file), limits=FREE)) as client:
            photo = shots["Ada"]["front"]
            sent = client.post("/v1/people", data={"name": "Ada", **CROPPED}, files=files(photo))
            assert read(schemas.EnrolledSchema, sent, 201).added[0].has_thumbnail is keep
            ask(client, "identify", shots["Ada"]["left"])
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.name.startswith(str(keep)))
        assert (b"PNG" in held) is keep


def test_every_answer_is_json_that_says_nothing_twice(client, shots):
    answer = ask(client, "identify", shots["Ada"]["right"])
    json.loads(answer.text, parse_constant=lambda text: pytest.fail(text))


def test_accuracy_is_measured_once_for_each_state_of_the_gallery(client, monkeypatch):
    from lightproof import evaluation

    measured = []
    evaluate = evaluation.evaluate_within
    monkeypatch.setattr(evaluation, "evaluate_within", lambda gallery: measured.append(1) or evaluate(gallery))
    first = client.get("/v1/accuracy").json()
    assert client.get("/v1/accuracy").json() == first
    assert len(measured) == 1
    client.delete("/v1/people/1")
    assert client.get("/v1/accuracy").json()["people"] == 3
    client.post("/v1/calibrate", json={"far": 0.01})
    assert client.get("/v1/accuracy").json()["far"] == 0.01
    assert len(measured) == 3


def test_a_name_that_is_taken_is_told_before_the_photos_are_looked_at(client, shots):
    for photo in (b"no picture", shots["Ada"]["front"], shots["Eve"]["front"]):
        sent = client.post("/v1/people", data={"name": "Ada", **CROPPED}, files=files(photo))
        assert (
            problem(sent, 409, "name_taken") == "The new name must be one that nobody has; got 'Ada', who is enrolled."
        )
    problem(client.post("/v1/people", data={"name": " ", **CROPPED}, files=files(b"x")), 422, "bad_name")
