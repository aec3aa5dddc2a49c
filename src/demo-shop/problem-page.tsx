import type { VNode } from 'preact';
import type { Problem, ProblemWording } from '../platform/problem.ts';
import type { Branding } from './branding.ts';
import { Frame } from './frame.tsx';
import { currencyNames } from './group-by-currency.ts';
import { useReader, type Language } from './language.tsx';
import type { Words } from './words/en.ts';

type ProblemPageProps = { problem: Problem; branding: Branding };

/** What went wrong, for a shopper: a form that was rejected, an address that does not exist. */
export function ProblemPage({ problem, branding }: ProblemPageProps): VNode {
  const { language, words } = useReader();
  const { title, lines } = wordingOf(problem, words, language);
  return (
    <Frame title={title} branding={branding}>
      <div class="intro">
        <h1>{title}</h1>
        {lines.map((line) => (
          <p class="lead" key={line}>
            {line}
          </p>
        ))}
        {branding.homeUrl !== null && (
          <p>
            <a href={branding.homeUrl}>{words.back}</a>
          </p>
        )}
      </div>
    </Frame>
  );
}

function wordingOf({ type, options }: Problem, words: Words, language: Language): ProblemWording {
  const { problems, faults, shop } = words;
  const { about, errors = [] } = options;
  const [title = '', line = ''] = new Map(Object.entries(problems)).get(type) ?? problems.other;
  if (type === 'invalid-input') {
    // What no field of ours can send is for programmers.
    const known = errors.flatMap(
      ({ path }) => new Map(Object.entries(faults)).get(path.split('.')[0] ?? '') ?? [],
    );
    return { title, lines: [...new Set(known), line] };
  }
  if (type === 'currency-stopped' && about !== undefined)
    return { title, lines: [shop.stopped(currencyNames(about, language)), line] };
  return { title, lines: about === undefined ? [line] : [about, line] };
}
