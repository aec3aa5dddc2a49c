import type { OrderId, Reference } from './ids.ts';
/** Which payment and order something is about, as log lines name them. */
export type Story = { reference?: Reference | undefined; orderId?: OrderId | undefined };

const stories = new WeakMap<object, Story>();

/** Remembers of an error what it is about, for whoever logs it far from there. @returns the error, to be thrown on */
export function tellOf(error: unknown, story: Story): unknown {
  if (error instanceof Error) stories.set(error, { ...story, ...stories.get(error) });
  return error;
}

/** What an error is about, as far as anybody said. */
export function storyOf(error: unknown): Story {
  return error instanceof Error ? (stories.get(error) ?? {}) : {};
}
