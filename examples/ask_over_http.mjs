// Asks one question of a server and prints the answer. It needs Node 18 or newer, and no packages:
//
//   ASSENT_STORE=http://127.0.0.1:8484 ASSENT_TOKEN=… node ask_over_http.mjs shop "Which database?" PostgreSQL SQLite
//
// Exit status: 0 answered, 1 refused, 4 a person declined, 5 it ended in another way.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const { ASSENT_STORE, ASSENT_TOKEN } = process.env;
const [project, question, ...options] = process.argv.slice(2);
const AWAY = [429, 502, 503, 504]; // too fast, or the server is not there just now

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${ASSENT_TOKEN}` };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["idempotency-key"] = randomUUID(); // one for all tries: however often it is sent, it is done once
  }
  const sent = { method, headers, body: JSON.stringify(body) };
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    const reply = await fetch(`${ASSENT_STORE}/projects/${encodeURIComponent(project)}${path}`, sent).catch(
      (error) => console.error(`trying again: ${error.cause?.message ?? error.message}`),
    );
    if (reply && !AWAY.includes(reply.status)) {
      const told = await reply.json();
      if (reply.ok) return told;
      console.error(`${told.error.code}: ${told.error.message}`);
      process.exit(1);
    }
    await sleep(pause);
  }
}

// The same key and question are the same ask, for ever: start this again, and it goes on waiting, or has the answer.
let ask = await call("POST", "/asks", { prompt: question, options, key: question });
while (ask.state === "open") ask = await call("GET", `/asks/${ask.ask_id}/answer?wait=25`);
if (ask.state === "answered") {
  console.log(Object.values(ask.answer.values).flat().join("\n"));
} else {
  console.error(`no answer: ${ask.state}`);
  process.exitCode = ask.state === "declined" ? 4 : 5;
}
