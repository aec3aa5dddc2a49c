/** Names of a list's parameters, as seen in the field. */

export const SIZES = [
  ...['limit', 'perPage', 'per_page', 'size', 'pageSize', 'page_size', 'count', 'take', 'page[size]'],
  ...['rows', 'max_results', 'maxResults', 'page_limit', 'pageLimit', 'itemsPerPage', 'items_per_page'],
];

export const NUMBERS = [
  ...['page', 'skip', 'offset', 'pageNumber', 'page_number', 'page[number]', 'start'],
  ...['pageNo', 'page_no', 'pageIndex', 'page_index', 'currentPage', 'p'],
];

export const CURSORS = [
  ...['cursor', 'after', 'next', 'page_token', 'pageToken', 'starting_after', 'next_token', 'nextToken'],
  ...['continuation', 'marker', 'page[after]'],
];

export const BEHIND = ['starting_after', 'after', 'after_id', 'last_id', 'from'];

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
