/* global document, location, DOMParser, EventSource, fetch, setInterval */
// An order that may still change is shown as it is then. What the page says comes from the server alone.

const main = document.querySelector('main');
const address = `/orders/${main.dataset.order}`;
let shown = main.dataset.status;
let hears = false;

async function see({ status }) {
  if (status === shown) return;
  shown = status;
  const page = await (await fetch(location.href)).text();
  const now = new DOMParser().parseFromString(page, 'text/html');
  document.title = now.title;
  for (const id of ['state', 'receipt']) {
    const part = document.getElementById(id);
    const isInIt = part.contains(document.activeElement);
    part.className = now.getElementById(id).className;
    part.replaceChildren(...now.getElementById(id).childNodes);
    if (isInIt) part.querySelector('h1')?.focus();
  }
}

const events = new EventSource(`${address}/events`);
events.addEventListener('order', ({ data }) => {
  hears = true;
  void see(JSON.parse(data));
});
// Some proxies hold a stream back: then it is asked for.
setInterval(async () => {
  if (!hears) await see(await (await fetch(address)).json());
}, 10_000);
