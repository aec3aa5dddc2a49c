import type { VNode } from 'preact';
import { Moment, words } from '../layout/parts.tsx';
import type { StoryEvent } from '../../reporting/timeline.sql.ts';

/** The story in order of time, with the pauses between: a long pause is often where the problem is. */
export function Timeline({ story }: { story: readonly StoryEvent[] }): VNode {
  return (
    <ol class="timeline">
      {story.map((event, index) => (
        <li key={index} class={event.source}>
          <Pause before={story[index - 1]} event={event} />
          <p class="event">
            <Moment at={event.at} /> <span class="source">{event.source}</span>{' '}
            <strong>{words(event.what)}</strong>
          </p>
          <p class="detail">
            {event.reference !== null && <code>{event.reference}</code>} <Detail event={event} />
          </p>
        </li>
      ))}
    </ol>
  );
}

const WORTH_SAYING_SEC = 60;

function Pause({ before, event }: { before: StoryEvent | undefined; event: StoryEvent }): VNode | null {
  const sec = before === undefined ? 0 : (event.at.getTime() - before.at.getTime()) / 1_000;
  if (sec < WORTH_SAYING_SEC) return null;
  return <p class="pause">{pauseWords(sec)} later</p>;
}

function pauseWords(sec: number): string {
  if (sec < 7_200) return `${Math.round(sec / 60)} min`;
  return sec < 172_800 ? `${Math.round(sec / 3_600)} hours` : `${Math.round(sec / 86_400)} days`;
}

/** An answer of the service links to its text. */
function Detail({ event: { source, detail } }: { event: StoryEvent }): VNode {
  const id = source === 'verification' ? /^#(\d+)/.exec(detail)?.[1] : undefined;
  if (id === undefined) return <>{detail}</>;
  return (
    <>
      <a href={`#verification-${id}`}>#{id}</a>
      {detail.slice(id.length + 1)}
    </>
  );
}
