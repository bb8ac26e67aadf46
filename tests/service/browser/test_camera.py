"""The camera: a film plays the part of it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from lightproof.gallery import Gallery
from tests.scenes import compose, seat
from tests.service.browser.seeing import expect, launched
from tests.service.running import Running

pytestmark = pytest.mark.long

AZIMUTH = 45.0
NAME = "door.test"
"""A name that stands for another machine, and leads here."""


def jpeg(photo) -> bytes:
    out = io.BytesIO()
    Image.fromarray(photo).convert("RGB").save(out, "JPEG", quality=92)
    return out.getvalue()


def photo_of(sitter, azimuth, shift=0):
    return compose(sitter, (480, 640), eye_distance=100, azimuth=azimuth, middle=complex(320 + shift, 200)).photo


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    """Somebody with light from one side: JPEGs one after the other."""
    [sitter] = seat(1, (0.0, AZIMUTH))
    file = tmp_path_factory.mktemp("film") / "film.mjpeg"
    file.write_bytes(b"".join(jpeg(photo_of(sitter, AZIMUTH, shift)) for shift in (0, 2, 4, 2)))
    return file


@pytest.fixture(scope="module")
def browser(film):
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    rule = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    with launched(*fake, f"--use-file-for-fake-video-capture={film}", rule) as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory, browser, photos_extra):
    """A service that knows the person in the film from a photo in even light."""
    file = tmp_path_factory.mktemp("served") / "people.gallery"
    [sitter] = seat(1, (0.0, AZIMUTH))
    with Gallery.open(file, keep_photos=True) as gallery:
        gallery.enroll("Zoe", [jpeg(photo_of(sitter, 0.0))])
    with Running(file, "--workers", 1, "--name", NAME) as running:
        yield running


@pytest.fixture
def camera(visit):
    return visit(permissions=["camera"])


def test_the_camera_names_the_person_and_hints_at_the_light(camera):
    running = []
    together = []

    def began(request):
        if request.url.endswith("/v1/identify"):
            running.append(request)
            together.append(len(running))

    def ended(request):
        if request in running:
            running.remove(request)

    camera.on("request", began)
    camera.on("requestfinished", ended)
    camera.get_by_role("button", name="Use the camera").click()
    expect(camera.locator("#who")).to_have_text("Zoe")
    expect(camera.locator("#camera-who")).to_have_text("Zoe")
    expect(camera.locator("#camera-hint")).to_contain_text("your left side, is in shadow: turn to your right")
    expect(camera.locator("#map")).to_be_visible()
    assert len(together) >= 3, "at least three frames vote"
    assert max(together) == 1, "never two at a time"
    camera.get_by_role("button", name="Stop the camera").click()
    expect(camera.locator("#camera")).to_be_hidden()
    assert camera.locator("#camera-video").evaluate("video => video.srcObject") is None
    expect(camera.locator("#who")).to_have_text("Zoe")


def test_the_camera_stops_when_its_part_is_left(camera):
    camera.get_by_role("button", name="Use the camera").click()
    expect(camera.locator("#camera-who")).to_have_text("Zoe")
    track = camera.locator("#camera-video").evaluate_handle("video => video.srcObject.getTracks()[0]")
    assert track.evaluate("track => track.readyState") == "live"
    camera.click("#tab-people")
    expect(camera.locator("#part-people")).to_be_visible()
    assert track.evaluate("track => track.readyState") == "ended"


def test_a_busy_service_is_asked_again_when_it_says_so(camera, visit):
    visit.expected = {503, 429}
    refused = []

    def refuse(route):
        if len(refused) >= 2:
            return route.fallback()
        refused.append(route)
        told = {
            "status": 503,
            "code": "busy",
            "title": "The service is busy",
            "detail": "Busy.",
            "type": "",
            "request": "",
        }
        return route.fulfill(status=503, json=told, headers={"Retry-After": "1"})

    camera.route("**/v1/identify", refuse)
    camera.get_by_role("button", name="Use the camera").click()
    expect(camera.locator("#who")).to_have_text("Zoe")
    assert len(refused) == 2
    expect(camera.locator("#identify-trouble")).to_be_hidden()


def test_a_photo_is_taken_to_be_enrolled(camera):
    camera.click("#tab-enroll")
    camera.locator("#enroll-camera-start").click()
    camera.get_by_role("button", name="Take a photo").click()
    expect(camera.locator(".preview")).to_contain_text("camera 1.jpg")
    size = camera.locator(".preview img").evaluate("image => image.decode().then(() => image.naturalWidth)")
    assert size == 640


def test_a_page_from_another_machine_says_what_a_camera_needs(visit, service):
    visit.url = f"http://{NAME}:{service.port}"
    page = visit()
    page.get_by_role("button", name="Use the camera").click()
    expect(page.locator("#identify-trouble")).to_contain_text("over https, or on this computer as http://localhost")
    # Chromium says that it leaves out a header which means nothing without https.
    visit.complaints = [it for it in visit.complaints if "Cross-Origin-Opener-Policy" not in it]


def test_without_leave_the_page_says_how_to_give_it(visit):
    page = visit()
    refusal = "async () => { throw new DOMException('no', 'NotAllowedError'); }"
    page.evaluate(f"() => {{ navigator.mediaDevices.getUserMedia = {refusal}; }}")
    page.get_by_role("button", name="Use the camera").click()
    expect(page.locator("#identify-trouble")).to_contain_text("allow it for this page")
    expect(page.locator("#identify-drop")).to_be_visible()
