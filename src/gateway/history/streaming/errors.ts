/** Not one whole JSON document with one list. The records so far are real; what is missing is unknown. */
export class RecordStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RecordStreamError';
  }
}
