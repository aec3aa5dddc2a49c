import service from '../../../local/sandbox-adapter.ts';

/** Its webhooks are not signed. */
export default { ...service, webhook: { ...service.webhook, signature: null } };
