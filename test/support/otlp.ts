/**
 * Of an ExportTraceServiceRequest what tests look at. Ids are hexadecimal; `parentId` is empty for a root.
 */
export type CollectedSpan = {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  resource: Record<string, unknown>;
};

type Field = { number: number; bytes: Buffer; value: bigint };

/** Reads OTLP's protobuf, by the field numbers of opentelemetry-proto. @throws when it is not well-formed */
export function readSpans(body: Buffer): CollectedSpan[] {
  return messages(body, 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).flatMap((message) => messages(message, 1));
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => ({ ...readSpan(span), resource: readAttributes(resource) }));
  });
}

function readSpan(span: Buffer): Omit<CollectedSpan, 'resource'> {
  const hex = (message: Buffer, number: number): string =>
    messages(message, number)[0]?.toString('hex') ?? '';
  const status = messages(span, 15)[0] ?? Buffer.alloc(0);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    name: messages(span, 5)[0]?.toString() ?? '',
    kind: Number(number(span, 6)),
    attributes: readAttributes(messages(span, 9)),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: number(status, 3) === 2n,
  };
}

function readAttributes(pairs: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => [messages(pair, 1)[0]?.toString() ?? '', readValue(messages(pair, 2)[0])]),
  );
}

/** AnyValue: text, truth, whole number, fraction. Lists and maps do not occur. */
function readValue(message: Buffer | undefined): unknown {
  const [field] = message === undefined ? [] : fieldsOf(message);
  if (field?.number === 1) return field.bytes.toString();
  if (field?.number === 2) return field.value === 1n;
  if (field?.number === 3) return Number(field.value);
  return field?.number === 4 ? field.bytes.readDoubleLE() : undefined;
}

function messages(message: Buffer, wanted: number): Buffer[] {
  return fieldsOf(message)
    .filter((field) => field.number === wanted)
    .map(({ bytes }) => bytes);
}

function number(message: Buffer, wanted: number): bigint {
  return fieldsOf(message).find((field) => field.number === wanted)?.value ?? 0n;
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw new Error('a field is longer than its message');
    return message.subarray(at, (at += length));
  };
  while (at < message.length) {
    const tag = varint();
    const wire = Number(tag & 7n);
    const field: Field = { number: Number(tag >> 3n), bytes: Buffer.alloc(0), value: 0n };
    if (wire === 0) field.value = varint();
    else if (wire === 1) field.bytes = take(8);
    else if (wire === 2) field.bytes = take(Number(varint()));
    else if (wire === 5) field.bytes = take(4);
    else throw new Error(`there is no wire type ${wire}`);
    fields.push(field);
  }
  return fields;
}
