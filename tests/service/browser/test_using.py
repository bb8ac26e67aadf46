"""The page as somebody uses it."""

from __future__ import annotations

import random
import re
import struct
import zipfile

import numpy as np
import pytest
from PIL import Image

from lightproof.cli.watch import Votes
from tests.service.browser.seeing import ask_about, enroll_face, expect, tick_cropped

pytestmark = pytest.mark.long

HOSTILE = "<img src=x onerror=\"document.title='broken into'\">"

# Patches in the colors of the map: a face is grey, so a difference of the channels is the map's.
COLORED = """() => {
    const map = document.getElementById("map");
    const data = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
    const count = {blue: 0, red: 0, all: data.length / 4};
    for (let i = 0; i < data.length; i += 4) {
        if (data[i + 2] - data[i] > 40) count.blue++;
        if (data[i] - data[i + 2] > 40) count.red++;
    }
    return count;
}"""

PLACE = """element => {
    const [mark, track] = [element, element.parentElement].map(it => it.getBoundingClientRect());
    return (mark.x + mark.width / 2 - track.x) / track.width;
}"""


def number_of(service, name):
    return {one["name"]: one for one in service.client.get("/v1/people").json()["people"]}.get(name)


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in files.items():
            archive.writestr(name, contents)
    return path


def is_post(request):
    return request.method == "POST"


def hold(page, place):
    """Keep back what is sent there, until it is let go."""
    held = []
    page.route(place, lambda route: held.append(route) if is_post(route.request) else route.continue_())
    return held


def test_a_photo_is_enrolled_by_file(visit, service, album):
    page = visit("enroll")
    enroll_face(page, "Finn", album / "Finn" / "front.png", album / "Finn" / "right.png", album / "Ada" / "front.png")
    expect(page.locator("#enroll-outcome h3")).to_have_text("Finn")
    expect(page.locator(".result")).to_have_count(3)
    expect(page.locator(".result.taken")).to_have_count(2)
    expect(page.locator(".result.rejected")).to_contain_text("'Ada'")
    expect(page.locator("#enroll-outcome .light.has")).to_have_count(2)
    expect(page.locator("#enroll-outcome .light.lacks")).to_have_count(5)
    expect(page.locator("#enroll-outcome .hint")).to_contain_text("Add a photo with")
    expect(page.locator("#count")).to_contain_text("people")
    assert number_of(service, "Finn")["photos"] == 2


def test_a_name_that_is_there_is_asked_about_before_photos_are_added(visit, service, album):
    page = visit("enroll")
    enroll_face(page, "Ben", album / "Ben" / "right.png")
    expect(page.locator("#ask")).to_contain_text("Ben is enrolled already")
    page.click("#ask-no")
    expect(page.locator("#ask")).to_be_hidden()
    assert number_of(service, "Ben")["photos"] == 2
    page.click("#enroll-send")
    page.click("#ask-yes")
    expect(page.locator(".result.taken")).to_have_count(1)
    assert number_of(service, "Ben")["photos"] == 3


def test_identify_shows_the_name_the_score_and_the_threshold_on_the_scale(visit, album):
    page = visit()
    ask_about(page, album / "Ada" / "right.png")
    expect(page.locator("#who")).to_have_text("Ada")
    expect(page.locator("#answer .sentence")).to_contain_text("strangers would score this well")
    expect(page.locator("#answer-body .scale-threshold-label")).to_have_text("named from 0.50 on")
    assert page.locator("#answer-body .scale-threshold").evaluate(PLACE) == pytest.approx(0.5, abs=0.005)
    score = page.locator("#answer-body .scale-score")
    assert score.evaluate(PLACE) == pytest.approx(float(score.inner_text()), abs=0.01)
    assert float(score.inner_text()) >= 0.5
    expect(page.locator("#answer .hint")).to_contain_text("in shadow")
    expect(page.locator("#answer .pose")).to_contain_text("mouth closed, eyes open")
    assert page.locator(".candidate").count() >= 4
    expect(page.locator(".candidate.chosen")).to_contain_text("Ada")
    expect(page.locator(".candidate.chosen img")).to_be_visible()
    page.get_by_role("link", name="Open Ada").click()
    expect(page.locator("#person-view h2")).to_have_text("Ada")


def test_the_patch_map_is_really_drawn_in_blue_and_red_and_can_be_taken_off(visit, album):
    page = visit()
    ask_about(page, album / "Ada" / "right.png")
    page.get_by_label(re.compile("Why not")).first.check()
    expect(page.locator(".why-words .sentence")).to_contain_text("the difference")
    expect(page.locator(".legend")).to_contain_text("speaks for Ada")
    seen = page.evaluate(COLORED)
    assert seen["blue"] > seen["all"] / 100
    assert seen["red"] > seen["all"] / 1000
    page.get_by_role("button", name="Show the face alone").click()
    seen = page.evaluate(COLORED)
    assert (seen["blue"], seen["red"]) == (0, 0)
    page.locator(".more summary").click()
    expect(page.locator(".patches tbody tr")).to_have_count(12)


def test_unknown_is_an_answer_and_leads_to_enroll_with_the_photo(visit, album):
    page = visit()
    ask_about(page, album / "Eve" / "right.png")
    expect(page.locator("#who")).to_have_text("Unknown")
    expect(page.locator("#answer .sentence")).to_contain_text("Unknown: the nearest is")
    score = page.locator("#answer-body .scale-score")
    assert score.evaluate(PLACE) < 0.5
    page.get_by_role("button", name="Enroll this person").click()
    expect(page.locator("#enroll-name")).to_be_focused()
    expect(page.locator(".preview")).to_contain_text("right.png")
    expect(page.locator(".preview img")).to_be_visible()


def test_a_photo_without_a_face_is_told_to_be_one_and_a_tick_asks_again(visit, photos_extra, rng, tmp_path):
    visit.expected = {422}
    page = visit()
    Image.fromarray(rng.integers(0, 255, (192, 168), np.uint8)).save(tmp_path / "noise.png")
    page.set_input_files("#identify-file", tmp_path / "noise.png")
    expect(page.locator("#identify-trouble")).to_contain_text("No face was found")
    expect(page.locator("#who")).to_have_count(0)
    tick_cropped(page)
    expect(page.locator("#who")).to_have_text("Unknown")
    expect(page.locator("#identify-trouble")).to_be_hidden()


def test_delete_asks_escape_keeps_and_confirming_deletes(visit, service, album):
    sent = {"photos": ("photo.png", (album / "Hal" / "front.png").read_bytes())}
    made = service.client.post("/v1/people", data={"name": "Hal", "cropped": "true"}, files=sent).json()["person"]
    page = visit(f"people/{made['id']}")
    page.get_by_role("button", name="Delete this person").click()
    dialog = page.locator("#ask")
    expect(dialog).to_contain_text("It cannot be undone")
    expect(page.locator("#ask-no")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert number_of(service, "Hal") is not None
    page.get_by_role("button", name="Delete this person").click()
    page.get_by_role("button", name="Delete the person").click()
    expect(page.locator("#people-said")).to_contain_text("Hal is deleted, with 1 photo")
    expect(page.locator(".people")).not_to_contain_text("Hal")
    assert number_of(service, "Hal") is None


def test_one_photo_is_deleted_and_the_person_renamed(visit, service, album):
    page = visit("people")
    page.get_by_role("link", name="Dan").click()
    page.get_by_role("button", name=re.compile("Delete photo 1")).click()
    page.get_by_role("button", name="Delete the photo").click()
    expect(page.locator(".photo")).to_have_count(1)
    page.locator("#rename").fill("Daniel")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("#person-view h2")).to_have_text("Daniel")
    assert number_of(service, "Daniel")["photos"] == 1
    page.locator("#rename").fill("Ada")
    visit.expected = {409}
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("#rename-trouble")).to_contain_text("Ada")


def test_people_are_searched_by_name(visit):
    page = visit("people")
    expect(page.locator(".people li").first).to_be_visible()
    page.get_by_label("Search by name").fill("cle")
    expect(page.locator(".people li")).to_have_count(1)
    expect(page.locator(".people")).to_contain_text("Cleo")
    page.get_by_label("Search by name").fill("nobody at all")
    expect(page.locator("#people-list")).to_contain_text("Nobody is called nobody at all")


def test_the_gallery_goes_out_as_a_file_and_comes_back(visit, tmp_path):
    page = visit("people")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download a copy").click()
    started.value.save_as(tmp_path / "copy.gallery")
    page.set_input_files("#import-file", tmp_path / "copy.gallery")
    expect(page.locator("#file-said")).to_contain_text("came with copy.gallery")
    visit.expected = {422}
    (tmp_path / "words.gallery").write_text("no gallery")
    page.set_input_files("#import-file", tmp_path / "words.gallery")
    expect(page.locator("#file-trouble")).to_contain_text("not a gallery that fits")


def test_a_hostile_name_is_shown_as_text_everywhere(visit, service, album):
    page = visit("enroll")
    enroll_face(page, HOSTILE, album / "Gus" / "front.png")
    expect(page.locator("#enroll-outcome h3")).to_have_text(HOSTILE)
    page.click("#tab-identify")
    ask_about(page, album / "Gus" / "right.png")
    for place in ("#who", ".candidate.chosen .candidate-name"):
        expect(page.locator(place)).to_have_text(HOSTILE)
    expect(page.locator("#why h3")).to_contain_text(HOSTILE)
    page.click("#tab-people")
    page.get_by_role("link", name=HOSTILE).click()
    expect(page.locator("#person-view h2")).to_have_text(HOSTILE)
    page.get_by_role("button", name="Delete this person").click()
    expect(page.locator("#ask-title")).to_have_text(f"Delete {HOSTILE}?")
    page.get_by_role("button", name="Delete the person").click()
    expect(page.locator("#people-said")).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0
    assert "broken into" not in page.title()


def test_a_zip_is_enrolled_with_progress_and_the_bad_file_is_reported(visit, service, album, tmp_path):
    face = (album / "Ida" / "left.png").read_bytes()
    other = (album / "Hal" / "left.png").read_bytes()
    files = {
        "album/Zip One/a.png": face,
        "album/Zip One/broken.jpg": b"no picture",
        "album/Zip One/notes.txt": b"no picture either",
        "album/Zip Two/b.png": other,
        "album/stray.png": other,
        "__MACOSX/album/Zip Two/._b.png": b"",
        "album/Zip Two/.hidden.png": b"",
    }
    page = visit("enroll")
    tick_cropped(page)
    held = hold(page, "**/v1/people")
    page.set_input_files("#bulk-zip", zipped(tmp_path / "album.zip", files))
    expect(page.locator("#bulk-plan")).to_contain_text("2 people, 3 photos")
    with page.expect_request(is_post):
        page.get_by_role("button", name="Enroll 2 people").click()
    expect(page.locator("#bulk-count")).to_have_text("0 of 3 photos")
    with page.expect_request(is_post):
        held.pop().continue_()
    expect(page.locator("#bulk-count")).to_have_text("2 of 3 photos")
    expect(page.locator("#bulk-now")).to_have_text("Zip Two")
    assert page.locator("#bulk-progress").evaluate("bar => bar.position") == pytest.approx(2 / 3)
    held.pop().continue_()
    report = page.locator("#bulk-report")
    expect(report).to_contain_text("2 photos enrolled, 0 known already, 1 not enrolled; 2 people.")
    expect(report).to_contain_text("1 file left out: no picture. 1 picture left out: not in a person's folder.")
    expect(report.locator(".result")).to_contain_text("album/Zip One/broken.jpg")
    expect(report.locator(".result")).to_contain_text("must be a JPEG")
    assert number_of(service, "Zip Two")["photos"] == 1


def test_a_folder_is_enrolled_and_can_be_stopped_on_the_way(visit, service, album, tmp_path):
    for name in ("Folder One", "Folder Two"):
        (tmp_path / "album" / name).mkdir(parents=True)
    photo = (album / "Finn" / "left.png").read_bytes()
    (tmp_path / "album" / "Folder One" / "a.png").write_bytes(photo)
    (tmp_path / "album" / "Folder One" / "empty.png").write_bytes(b"")
    (tmp_path / "album" / "Folder Two" / "b.png").write_bytes((album / "Eve" / "left.png").read_bytes())
    page = visit("enroll")
    tick_cropped(page)
    held = hold(page, "**/v1/people")
    page.set_input_files("#bulk-folder", tmp_path / "album")
    with page.expect_request(is_post):
        page.get_by_role("button", name="Enroll 2 people").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    held.pop().continue_()
    report = page.locator("#bulk-report")
    expect(report.locator("h4")).to_have_text("Stopped")
    expect(report).to_contain_text("1 photo enrolled, 0 known already, 1 not enrolled; 1 person. 1 photo not sent.")
    expect(report.locator(".result")).to_contain_text("The file is empty.")
    assert number_of(service, "Folder One")["photos"] == 1
    assert number_of(service, "Folder Two") is None


def test_a_zip_that_lies_or_is_locked_does_no_harm(visit, service, tmp_path):
    bomb = zipped(tmp_path / "bomb.zip", {"Bomb/a.png": bytes(40_000_000)})
    lie = bytearray(bomb.read_bytes())
    listed = lie.index(b"PK\1\2")
    lie[listed + 24 : listed + 28] = struct.pack("<I", 100)
    (tmp_path / "lie.zip").write_bytes(lie)
    locked = bytearray(bomb.read_bytes())
    locked[listed + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    page = visit("enroll")
    # Before the service has said what it takes, the page cannot tell that a photo is too large.
    expect(page.locator("#about")).to_contain_text("preset")
    page.set_input_files("#bulk-zip", tmp_path / "locked.zip")
    expect(page.locator("#bulk-trouble")).to_contain_text("encrypted")
    for file, why in (("bomb.zip", "are accepted"), ("lie.zip", "Larger than a photo may be")):
        page.set_input_files("#bulk-zip", tmp_path / file)
        page.get_by_role("button", name="Enroll 1 person").click()
        expect(page.locator("#bulk-report .result")).to_contain_text(why)
    assert number_of(service, "Bomb") is None


def test_frames_vote_on_the_page_as_they_do_in_the_command(visit):
    rng = random.Random(0)
    second, frames = 0.0, []
    for _ in range(400):
        second += rng.choice([0.05, 0.17, 0.5, 1.1])
        frames.append([second, rng.choice(["Ada", "Ada", "Ben", "nobody"])])
    votes = Votes()
    by_command = [(votes.add(second, ("person", who)) or (None, None))[1] for second, who in frames]
    by_page = visit().evaluate(
        """async frames => {
            const { Votes } = await import("/page/votes.js");
            const votes = new Votes();
            return frames.map(([second, who]) => votes.add(second, who));
        }""",
        frames,
    )
    assert by_page == by_command
    assert len(set(by_page)) == 4


def tab_to(page, place):
    """Press Tab until something has the focus."""
    for _ in range(80):
        if page.locator(f"{place}:focus").count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{place} cannot be reached by Tab")


def choose(page, place, file):
    tab_to(page, place)
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(file)


def test_everything_works_by_keyboard_only(visit, service, album):
    page = visit()
    # From here on choosers are caught: a key is faster than the order to catch one.
    page.on("filechooser", lambda _: None)
    tab_to(page, "#tab-identify")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-enroll")).to_be_focused()
    expect(page.locator("#part-enroll")).to_be_visible()
    tab_to(page, "#enroll-name")
    page.keyboard.type("Keys")
    choose(page, "#enroll-file", album / "Gus" / "front.png")
    tab_to(page, "#enroll-form .cropped")
    page.keyboard.press("Space")
    tab_to(page, "#enroll-send")
    page.keyboard.press("Enter")
    expect(page.locator("#enroll-outcome h3")).to_be_focused()
    tab_to(page, "#tab-enroll")
    page.keyboard.press("Home")
    expect(page.locator("#part-identify")).to_be_visible()
    choose(page, "#identify-file", album / "Gus" / "right.png")
    expect(page.locator("#who")).to_have_text("Keys")
    expect(page.locator("#map")).to_be_visible()
    tab_to(page, "#why input:checked")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".why-words .sentence")).to_contain_text("the difference")
    tab_to(page, "#answer a.button")
    page.keyboard.press("Enter")
    expect(page.locator("#person-view h2")).to_be_focused()
    tab_to(page, ".forget button")
    page.keyboard.press("Enter")
    expect(page.locator("#ask-no")).to_be_focused()
    tab_to(page, "#ask-yes")
    page.keyboard.press("Enter")
    expect(page.locator("#people-title")).to_be_focused()
    assert number_of(service, "Keys") is None


def test_a_console_error_and_a_foreign_request_would_be_seen(visit):
    page = visit()
    page.evaluate("console.error('something')")
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})")
    expect(page.locator("#count")).to_contain_text("people")
    assert "something" in visit.complaints
    assert any("Content Security Policy" in complaint or "9" in complaint for complaint in visit.complaints[1:])
    visit.complaints.clear()
    visit.abroad.clear()
