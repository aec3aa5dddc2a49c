/** A length of time in its largest fitting unit. */
export function span(sec: number): string {
  const units: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ];
  const [size, unit] = units.find(([length]) => sec >= length) ?? [1, 's'];
  return `${Math.floor(sec / size)} ${unit}`;
}
