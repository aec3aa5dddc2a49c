/** Those whose turn it is, in order, so many under way at once. The others are pausing. */
export type Queue<T> = {
  push(item: T): void;
  /** Goes on with what waits, after `work` has become possible. */
  pump(): void;
  clear(): void;
};

/** @param work starts on an item; null: not now. It never rejects. */
export function createQueue<T>(limit: number, work: (item: T) => Promise<void> | null): Queue<T> {
  const ready = new Set<T>();
  let underWay = 0;

  function pump(): void {
    for (const item of ready) {
      if (underWay >= limit) return;
      const done = work(item);
      if (done === null) return;
      ready.delete(item);
      underWay += 1;
      void done.then(() => {
        underWay -= 1;
        pump();
      });
    }
  }

  return {
    push(item) {
      ready.add(item);
      pump();
    },
    pump,
    clear() {
      ready.clear();
    },
  };
}
