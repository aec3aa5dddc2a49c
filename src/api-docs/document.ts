import { z } from 'zod';
import { PROBLEMS, type ProblemType } from '../platform/problem-types.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { SCHEMAS, type SchemaName, openApiWebhooks } from './openapi-schemas.ts';

/**
 * The interface for programs as OpenAPI 3.1, generated from the schemas that the routes validate with.
 * @param origin how clients reach this server
 */
export function openApiDocument(origin: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment integrator',
      version: '1.0.0',
      description:
        'The backend between a storefront and a hosted-checkout payment service. Amounts are exact decimal ' +
        'texts. Every refusal is application/problem+json (RFC 9457).',
    },
    servers: [{ url: origin }],
    paths,
    webhooks: openApiWebhooks(jsonSchema),
    components: {
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema)]),
      ),
      securitySchemes: {
        shopApiToken: { type: 'http', scheme: 'bearer', description: 'SHOP_API_TOKEN' },
        adminToken: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN' },
      },
    },
  };
}

/** The schema of what is sent over the wire: of inputs, before any default or transformation. */
function jsonSchema(schema: z.ZodType): object {
  const described = z.toJSONSchema(schema, { io: 'input' });
  // The document names its version of JSON Schema once for all.
  delete described.$schema;
  return described;
}

function describe(operation: Operation): object {
  const { id, tag, summary, description, parameters, body, success, problems, token } = operation;
  const content = success.schema === undefined ? success.contentType : 'application/json';
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters && {
      parameters: parameters.map((parameter) => ({ ...parameter, schema: { type: 'string' } })),
    }),
    ...(body && {
      requestBody: { required: true, content: contentOf(body.contentTypes, body.schema) },
    }),
    responses: {
      ...Object.fromEntries(
        [success.status, success.orStatus ?? success.status].map((status) => [
          status,
          {
            description: summary,
            ...(content !== undefined && {
              content: contentOf([content], success.schema ?? null, success.isList),
            }),
          },
        ]),
      ),
      ...refusals(problems),
    },
    ...(token && { security: [{ [token]: [] }] }),
  };
}

function contentOf(types: readonly string[], name: SchemaName | null, isList = false): object {
  const one = name === null ? {} : { $ref: `#/components/schemas/${name}` };
  const schema = isList ? { type: 'array', items: one } : one;
  // A form has the same fields, flat; only JSON has the schema's shape.
  return Object.fromEntries(types.map((type) => [type, type.endsWith('json') ? { schema } : {}]));
}

/** One answer per status; several refusals may share one. */
function refusals(problems: readonly ProblemType[]): Record<string, object> {
  const statuses = [...new Set(problems.map((type) => PROBLEMS[type].status))].sort();
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: problems
          .filter((type) => PROBLEMS[type].status === status)
          .map((type) => `${PROBLEMS[type].title} (/problems/${type})`)
          .join(' · '),
        content: contentOf(['application/problem+json'], 'Problem'),
      },
    ]),
  );
}
