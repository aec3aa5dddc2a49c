/** No usable HTTP answer came. `sent` false: nothing can have reached the service; true: it may have. */
export class ClientError extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'ClientError';
    this.sent = sent;
  }
}

/** An error's code or name. Its message is not used: it may quote what was sent, our key included. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}
