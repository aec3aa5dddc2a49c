import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

type Mail = { from: string; to: string[]; text: string };
export type MailServer = {
  /** The value for SMTP_URL. */
  url: string;
  /** All accepted mails; `text` includes the headers. */
  mails: Mail[];
  /** true: refuses mails from now on. */
  refuses: boolean;
  close(): Promise<void>;
};

/** A mail server on loopback that keeps all accepted mails. */
export async function startMailServer(): Promise<MailServer> {
  const serve = async (socket: Socket): Promise<void> => {
    let mail: Mail = { from: '', to: [], text: '' };
    let isText = false;
    socket.on('error', () => socket.destroy()).write('220 a mail server for tests\r\n');
    for await (const line of createInterface(socket)) {
      const [, command = '', address = ''] = /^(\w{4})(?:.*<(.*?)>)?/.exec(line) ?? [];
      if (isText && line !== '.') mail.text += `${line}\n`;
      else {
        if (isText) server.mails.push(mail);
        else if (command === 'MAIL') mail = { from: address, to: [], text: '' };
        else if (command === 'RCPT') mail.to.push(address);
        isText = command === 'DATA';
        const isRefused = command === 'MAIL' && server.refuses;
        socket.write(isText ? '354 go on\r\n' : isRefused ? '451 not now\r\n' : '250 ok\r\n');
      }
    }
  };
  const tcp = createServer((socket) => void serve(socket)).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const url = `smtp://127.0.0.1:${(tcp.address() as AddressInfo).port}`;
  const close = async () => {
    await once(tcp.close(), 'close');
  };
  const server: MailServer = { url, mails: [], refuses: false, close };
  return server;
}
