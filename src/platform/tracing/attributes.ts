import type {
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_SUMMARY,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from '@opentelemetry/semantic-conventions';

// Types only: the names are OpenTelemetry's, and its package need not be loaded for seven of them.
export const HTTP_METHOD: typeof ATTR_HTTP_REQUEST_METHOD = 'http.request.method';
export const HTTP_ROUTE: typeof ATTR_HTTP_ROUTE = 'http.route';
export const HTTP_STATUS: typeof ATTR_HTTP_RESPONSE_STATUS_CODE = 'http.response.status_code';
export const DB_SYSTEM: typeof ATTR_DB_SYSTEM_NAME = 'db.system.name';
export const DB_STATEMENT: typeof ATTR_DB_QUERY_SUMMARY = 'db.query.summary';
export const DB_OPERATION: typeof ATTR_DB_OPERATION_NAME = 'db.operation.name';
export const ERROR_TYPE: typeof ATTR_ERROR_TYPE = 'error.type';

// Our own, named with the words of the glossary.
export const REFERENCE = 'integrator.reference';
export const ORDER_ID = 'integrator.order_id';
export const RELEASE = 'integrator.release';
export const EVENT = 'integrator.event';
export const CAUSE = 'integrator.cause';
export const OUTCOME = 'integrator.outcome';
export const ATTEMPT = 'integrator.attempt';
export const ROWS = 'integrator.rows';
