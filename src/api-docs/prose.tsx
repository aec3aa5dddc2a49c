import type { VNode } from 'preact';
import type { SchemaName } from './schemas.ts';

/** A sentence in which names stand between backticks. */
export function Prose({ text }: { text: string }): VNode {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** What something is, and what is said of it, with its fields. */
export function Fact({
  term,
  text,
  schema,
}: {
  term: string;
  text: string;
  schema?: SchemaName | null;
}): VNode {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {schema && <a href={`#schema-${schema}`}>{schema}</a>} <Prose text={text} />
      </dd>
    </div>
  );
}

/** Text to copy. */
export function Example({ text, of }: { text: string; of: string }): VNode {
  return (
    <pre class="scroll" tabIndex={0} role="region" aria-label={`Example of ${of}`}>
      {text}
    </pre>
  );
}
