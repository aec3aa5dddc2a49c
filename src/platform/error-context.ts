import type { OrderId, Reference } from './ids.ts';
/** The payment and order that something is about, as log lines name them. */
export type Story = { reference?: Reference | undefined; orderId?: OrderId | undefined };

const stories = new WeakMap<object, Story>();

/** Attaches to an error what it is about, for the code that logs it far away. @returns the error */
export function tellOf(error: unknown, story: Story): unknown {
  if (error instanceof Error) stories.set(error, { ...story, ...stories.get(error) });
  return error;
}

/** What an error is about, as far as that was attached. */
export function storyOf(error: unknown): Story {
  return error instanceof Error ? (stories.get(error) ?? {}) : {};
}
