/** Names of a list's parameters, as seen in the field. */

export const SIZES = [
  ...['limit', 'perPage', 'per_page', 'size', 'pageSize', 'page_size', 'count', 'take', 'page[size]'],
  ...['page[limit]', 'n', 'rows', 'max', 'max_results', 'maxResults', 'top', '$top', 'page_limit'],
  ...['pageLimit', 'itemsPerPage', 'items_per_page', 'length', 'num', 'PageSize'],
];

export const NUMBERS = [
  ...['page', 'skip', 'offset', 'pageNumber', 'page_number', 'page[number]', 'page[offset]', 'start', 'p'],
  ...['pageNo', 'page_no', 'pageIndex', 'page_index', 'currentPage', 'current_page', 'startIndex', 'from'],
  ...['start_index', '$skip', 'Page'],
];

/** What takes a text from beside the list. */
export const CURSORS = [
  ...['cursor', 'after', 'next', 'page_token', 'pageToken', 'starting_after', 'startingAfter', 'page'],
  ...['next_token', 'nextToken', 'next_cursor', 'nextCursor', 'continuation', 'marker', 'page[after]'],
  ...['page[cursor]', 'bookmark', 'token', 'from', 'start'],
];

/** What takes an id of a record: what is listed behind it, in lists of either order. */
export const BEHIND = [
  ...['starting_after', 'startingAfter', 'after', 'after_id', 'afterId', 'last_id', 'lastId', 'since_id'],
  ...['sinceId', 'from_id', 'fromId', 'from', 'start_after', 'startAfter', 'start', 'marker', 'cursor'],
  ...['page[after]', 'offset', 'before', 'before_id', 'beforeId', 'max_id', 'maxId', 'until_id'],
];

/** The two ends of a window of time. */
export const WINDOWS: readonly (readonly [string, string])[] = [
  ['from', 'to'],
  ['since', 'until'],
  ['start_date', 'end_date'],
  ['startDate', 'endDate'],
  ['dateFrom', 'dateTo'],
  ['date_from', 'date_to'],
  ['from_date', 'to_date'],
  ['fromDate', 'toDate'],
  ['start_time', 'end_time'],
  ['startTime', 'endTime'],
  ['created_after', 'created_before'],
  ['createdAfter', 'createdBefore'],
  ['start', 'end'],
];

/** The names of a window that a refusal asks for: `created_from and created_to are required`. */
export function windowsNamedIn(text: string): [string, string][] {
  const words = [...new Set(text.match(/\b[A-Za-z][\w[\].]*/g) ?? [])];
  const since = words.find((word) =>
    /(from|since|start|after|begin|gte?)\]?$|^(from|start)[_A-Z]/i.test(word),
  );
  const until = words.find((word) => /(to|until|end|before|lte?)\]?$|^(to|until|end)[_A-Z]/i.test(word));
  return since === undefined || until === undefined || since === until ? [] : [[since, until]];
}
