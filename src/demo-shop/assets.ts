import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** A file that the pages link to. Nothing else of the folder is served. */
export type Asset = { body: Buffer; type: string; version: string };

const FOLDER = new URL('./assets/', import.meta.url);
const ADDRESS = '/shop/assets/';
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
};
/** Long enough that different contents never share an address, short enough to read in a log. */
const VERSION_CHARACTERS = 12;

// A dozen small files, read synchronously while the process starts: it does not listen
// yet, so no request waits.
const assets = readAssets(FOLDER);

/** Every file of a folder that a page may load, by its name. */
export function readAssets(folder: URL): Map<string, Asset> {
  return new Map(readdirSync(folder).flatMap((name) => readAsset(folder, name)));
}

function readAsset(folder: URL, name: string): [string, Asset][] {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) return [];
  const body = readFileSync(new URL(name, folder));
  const version = createHash('sha256').update(body).digest('hex').slice(0, VERSION_CHARACTERS);
  return [[name, { body, type, version }]];
}

export function findAsset(name: string): Asset | undefined {
  return assets.get(name);
}

/**
 * The address of an asset with its content's version in it, so that browsers may cache it permanently.
 * An address that is not ours (a clone's product picture from elsewhere) is left as it is.
 */
export function versioned(address: string): string {
  if (!address.startsWith(ADDRESS)) return address;
  const asset = findAsset(address.slice(ADDRESS.length));
  return asset === undefined ? address : `${address}?v=${asset.version}`;
}

/**
 * How long a browser may cache an answer. Only the exact version is cached permanently: while two
 * releases run side by side, the old one gets requests for the new one's version and must not have its
 * own content cached under that address.
 */
export function cachingOf(asset: Asset, askedVersion: unknown): string {
  return askedVersion === asset.version ? 'public, max-age=31536000, immutable' : 'no-cache';
}
