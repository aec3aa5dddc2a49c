/** Slots kept free until `take` is called. It must be called, with the leased rows or with none. */
type Reservation<Row> = { slots: number; take(rows: readonly Row[]): void };
export type Reserve<Row> = (limit: number) => Reservation<Row>;

/** The slots of a loop: taken by rows that are worked on, and by rows that are being leased. */
type Slots<Row> = {
  free(): number;
  inHand(): number;
  take(row: Row): void;
  /** Keeps up to `limit` of the free slots. */
  reserve: Reserve<Row>;
  /** Resolves when every reservation was taken up and every row is done. */
  emptied(): Promise<void>;
};

type SlotsOptions<Row> = {
  count: number;
  work: (row: Row) => Promise<void>;
  /** Called when a row is done. */
  onFree: () => void;
  onError: (error: unknown, row: Row) => void;
};

export function createSlots<Row>({ count, work, onFree, onError }: SlotsOptions<Row>): Slots<Row> {
  const inHand = new Set<Promise<void>>();
  const reservations = new Set<Promise<void>>();
  let reserved = 0;

  const free = (): number => count - inHand.size - reserved;

  function take(row: Row): void {
    const task = work(row)
      .catch((error: unknown) => {
        onError(error, row);
      })
      .finally(() => {
        inHand.delete(task);
        onFree();
      });
    inHand.add(task);
  }

  function reserve(limit: number): Reservation<Row> {
    const slots = Math.max(0, Math.min(limit, free()));
    if (slots === 0) return { slots, take: () => undefined };
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    reserved += slots;
    reservations.add(ended);
    return {
      slots,
      take: (rows) => {
        reserved -= slots;
        reservations.delete(ended);
        rows.forEach(take);
        end();
      },
    };
  }

  return {
    free,
    inHand: () => inHand.size,
    take,
    reserve,
    emptied: async () => {
      await Promise.all(reservations);
      await Promise.all(inHand);
    },
  };
}
