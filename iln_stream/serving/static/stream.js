// The connection to the page's server: messages, and whether it is alive.

const SILENCE = 16_000; // ms; the server sends something at least every 5 s

export function connect(onMessage, onConnection) {
  let source;
  let heard = Date.now();

  function open() {
    source = new EventSource("events");
    source.onmessage = (event) => {
      hear();
      onMessage(JSON.parse(event.data));
    };
    source.addEventListener("beat", hear);
    source.onerror = () => {
      onConnection(false);
      // Refused, and not merely interrupted: the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) setTimeout(reopen, 2000);
    };
  }

  function hear() {
    heard = Date.now();
    onConnection(true);
  }

  function reopen() {
    source.close();
    heard = Date.now();
    open();
  }

  setInterval(() => {
    if (Date.now() - heard < SILENCE) return;
    onConnection(false);
    reopen();
  }, 4000);
  open();
}
