// The camera: opening it, its pictures, and words for why there is none.

/** Why there is no camera; `message` is the sentence to show. */
class NoCamera extends Error {}

const WHY = {
  NotAllowedError: "The camera may not be used: allow it for this page, in the address bar or the browser's settings.",
  NotFoundError: "There is no camera on this device.",
  NotReadableError: "The camera is in use by another program, or cannot be started.",
  OverconstrainedError: "There is no camera on this device.",
};

/** Open the camera into a <video>. `grab` gives its picture as a JPEG, `stop` lets the camera go. */
export async function openCamera(video) {
  if (!window.isSecureContext) {
    const safe = "over https, or on this computer as http://localhost";
    throw new NoCamera(`Browsers allow the camera only on a safe page, ${safe}. This page came from ${location.origin}.`);
  }
  if (!navigator.mediaDevices?.getUserMedia) throw new NoCamera("This browser gives pages no camera.");
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: {
      facingMode: "user",
      width: { ideal: 1280 },
      height: { ideal: 720 },
    } });
    video.srcObject = stream;
    await video.play();
  } catch (mistake) {
    for (const track of stream?.getTracks() ?? []) track.stop();
    throw new NoCamera(WHY[mistake.name] ?? `The camera cannot be used: ${mistake.message}`);
  }
  const canvas = document.createElement("canvas");
  return {
    grab: (longest) => grab(video, canvas, longest),
    stop() {
      for (const track of stream.getTracks()) track.stop();
      video.srcObject = null;
    },
    /** Called when the camera is unplugged, or taken away. */
    onEnd: (listener) => stream.getVideoTracks()[0]?.addEventListener("ended", listener),
  };
}

/** The picture as it is, not mirrored: the hints speak of left and right. */
async function grab(video, canvas, longest) {
  const zoom = Math.min(1, longest / Math.max(video.videoWidth, video.videoHeight));
  canvas.width = Math.max(1, Math.round(zoom * video.videoWidth));
  canvas.height = Math.max(1, Math.round(zoom * video.videoHeight));
  canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
  if (!blob) throw new NoCamera("The camera gives no picture.");
  return new File([blob], "camera.jpg", { type: "image/jpeg" });
}
