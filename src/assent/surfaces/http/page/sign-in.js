// Takes the code out of the address at once, so that no history keeps it, and sends it, at a click, to the server that
// this page came from and to no other.

const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

const button = document.getElementById("enter");
const told = document.getElementById("told");

async function enter() {
  button.disabled = true;
  told.textContent = "";
  try {
    const reply = await fetch("/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    if (reply.ok) return location.replace("/");
    const { error } = await reply.json();
    told.textContent = error.message;
    button.disabled = reply.status === 401;
  } catch {
    told.textContent = "The server does not answer. It may have stopped.";
    button.disabled = false;
  }
}

if (code) {
  button.disabled = false;
  button.addEventListener("click", enter);
  button.focus();
} else {
  told.textContent = "Open the link that assent serve printed: the code that opens this door is at its end.";
}
