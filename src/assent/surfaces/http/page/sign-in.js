// Takes the code out of the address at once, so that no history keeps it, and sends it, or a token that somebody pastes,
// at a click, to the server that this page came from and to no other.

import { canSign, keep } from "/page/session.js";

const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

const button = document.getElementById("enter");
const form = document.getElementById("paste");
const field = document.getElementById("token");
const told = document.getElementById("told");

// Says whether there is no use in sending the same once more.
async function enter(shown) {
  told.textContent = "";
  let reply, body;
  try {
    reply = await fetch("/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(shown),
    });
    body = await reply.json();
  } catch {
    told.textContent = "The server does not answer. It may have stopped.";
    return false;
  }
  if (!reply.ok) {
    told.textContent = body.error.message;
    return reply.status === 401;
  }
  try {
    await keep(body);
  } catch {
    told.textContent = "This browser keeps nothing for this page, so nobody can stay signed in here.";
    return true;
  }
  location.replace("/");
  return true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = field.value.trim();
  field.value = "";
  if (token) enter({ token });
});

if (!canSign) {
  button.hidden = form.hidden = true;
  told.textContent =
    "This page came over plain HTTP from another machine. There a browser keeps no key that only this page can use, so nobody can sign in here: open it over https, or on the machine itself.";
} else if (code) {
  button.disabled = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.disabled = await enter({ code });
  });
  button.focus();
} else {
  button.hidden = true;
  field.focus();
  told.textContent = "Open the link that assent serve printed: the code that opens this door is at its end.";
}
