// Shows who is signed in and how much waits. It speaks to the server that it came from and to no other, and takes
// nothing from the address.

import { forget, send } from "/page/session.js";

const parts = ["looking", "stranger", "guest", "away"];

function show(part) {
  for (const name of parts) document.getElementById(name).hidden = name !== part;
}

async function look() {
  const who = await send("/whoami");
  if (who.status === 401 || who.status === 429) return show("stranger");
  const waiting = await send("/asks/count");
  if (!who.ok || !waiting.ok) return show("away");
  const { name, projects } = await who.json();
  const { count } = await waiting.json();
  document.getElementById("waiting").textContent =
    count === 0 ? "Nothing waits for you" : count === 1 ? "1 ask waits for you" : `${count} asks wait for you`;
  document.getElementById("name").textContent = name;
  document.getElementById("projects").textContent = projects.includes("*") ? "all projects" : projects.join(", ");
  document.title = count === 0 ? "Assent" : `(${count}) Assent`;
  show("guest");
}

document.getElementById("sign-out").addEventListener("click", async () => {
  try {
    const reply = await send("/sign-out", { method: "POST" });
    if (reply.ok || reply.status === 401) forget();
    await look();
  } catch {
    show("away");
  }
});

look().catch(() => show("away"));
