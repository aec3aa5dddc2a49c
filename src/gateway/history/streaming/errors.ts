/** The body is not one whole JSON document with one list in it. What was cut before is real, what is missing is unknown. */
export class RecordStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RecordStreamError';
  }
}
