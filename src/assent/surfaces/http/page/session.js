// The half of a session's secret that is this page's own. The other half is in a cookie, which the browser sends to
// every port of this host; what is kept here is read by pages of this host and port alone, and goes nowhere but to the
// server that they came from.

const NAME = "assent-key";

export function keep(key) {
  localStorage.setItem(NAME, key);
}

export function forget() {
  localStorage.removeItem(NAME);
}

export function send(path, { headers = {}, ...options } = {}) {
  const key = localStorage.getItem(NAME);
  return fetch(path, { ...options, headers: key ? { ...headers, "assent-key": key } : headers });
}

// A page can set no header on a socket, so the key is offered as a subprotocol; the server never chooses it.
export function openSocket(path) {
  const key = localStorage.getItem(NAME);
  const address = new URL(path, location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address, key ? ["assent", `key.${key}`] : ["assent"]);
}
