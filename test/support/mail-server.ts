import { createServer, type AddressInfo } from 'node:net';

/** A mail server on this machine: takes every mail, and refuses all while `isFailing`. */
export async function startMailServer() {
  const state = { mails: [] as string[], isFailing: false };
  const server = createServer((socket) => {
    let [text, isData] = ['', false];
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    socket.on('error', () => undefined);
    say('220 here');
    socket.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const line = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) state.mails.push(line);
        const isAsked = !isData && line.toUpperCase() === 'DATA';
        if (!isData && /^MAIL/i.test(line) && state.isFailing) say('451 later');
        else say(isAsked ? '354 go on' : line.toUpperCase() === 'QUIT' ? '221 bye' : '250 ok');
        isData = isAsked;
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<unknown> => new Promise((resolve) => server.close(resolve));
  return { state, url: `smtp://127.0.0.1:${port}`, close };
}
