import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';

/** The dialect that holds when nobody has said anything else. */
export const defaultDialect: Dialect = parseDialect('{}').dialect;
