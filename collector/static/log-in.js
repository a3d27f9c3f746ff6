// A log-in link carries its key after the #, which browsers send to no server: put it into the
// form, take it out of the address bar and of the history, and log in.

function followLink() {
  const key = location.hash.slice(1);
  if (!key.startsWith("dnb_")) return;
  history.replaceState(null, "", location.pathname);
  const form = document.getElementById("log-in");
  form.elements.key.value = key;
  form.requestSubmit();
}

addEventListener("hashchange", followLink);
followLink();
