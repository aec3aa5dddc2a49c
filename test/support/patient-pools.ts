/**
 * Loaded before each test file. Whoever gets no connection to the database within two seconds is told to come
 * back: right for a shopper, and a matter of luck for a test that begins a dozen connections at once where
 * the machine is busy with something else. Here everybody waits for a turn.
 */
import pg from 'pg';

const { prototype } = pg.Pool as { prototype: { connect: (this: pg.Pool, ...args: unknown[]) => unknown } };
const { connect } = prototype;
// The files of one worker share the package.
if (connect.name !== 'connectPatiently')
  prototype.connect = function connectPatiently(...args) {
    this.options.connectionTimeoutMillis = 120_000;
    return Reflect.apply(connect, this, args);
  };
