(packed) => {
  if (!packed) return;
  const { name, kind, content } = JSON.parse(packed);
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: kind }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
