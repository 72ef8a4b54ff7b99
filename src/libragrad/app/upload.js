// The picture travels as bytes in the event itself: no file of it is kept anywhere.
const zone = element.querySelector(".zone");
const chooser = element.querySelector("input");

function send(file) {
  if (!file) return;
  if (file.size > Number(zone.dataset.limit)) {
    trigger("upload", { name: file.name, data: null });
    return;
  }
  const reader = new FileReader();
  reader.onload = () => trigger("upload", { name: file.name, data: reader.result.split(",")[1] || "" });
  reader.onerror = () => trigger("upload", { name: file.name, data: "" });
  reader.readAsDataURL(file);
}

chooser.addEventListener("change", () => { send(chooser.files[0]); chooser.value = ""; });
zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
zone.addEventListener("dragleave", () => zone.classList.remove("over"));
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  send(event.dataTransfer.files[0]);
});
document.addEventListener("paste", (event) => send(event.clipboardData.files[0]));
zone.addEventListener("click", (event) => {
  const button = event.target.closest("[data-example]");
  if (button) trigger("select", { example: Number(button.dataset.example) });
});
