import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import request from 'supertest';
import { shopApp, withErrors } from './support.ts';

const FOLDER = new URL('../../src/demo-shop/assets/', import.meta.url);
const PICTURES = readdirSync(FOLDER).filter((name) => name.endsWith('.svg'));

describe('assets', () => {
  test.each([
    ['shop.css', 'text/css; charset=utf-8'],
    ['basket.js', 'text/javascript; charset=utf-8'],
    ['djembe.svg', 'image/svg+xml; charset=utf-8'],
  ])('%s is served as %s', async (name, type) => {
    await request(shopApp().app).get(`/shop/assets/${name}`).expect(200).expect('content-type', type);
  });

  test('every address of the page exists, and the exact version is kept for good', async () => {
    const { app } = shopApp();
    const { text } = await request(app).get('/shop');
    const addresses = [...text.matchAll(/"(\/shop\/assets\/[^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(4);
    for (const address of addresses)
      await request(app)
        .get(address)
        .expect(200)
        .expect('cache-control', /immutable/);
  });

  test.each([
    '/shop/assets/shop.css',
    '/shop/assets/shop.css?v=0123456789ab',
    '/shop/assets/page.js?v=a&v=b',
  ])('another version is asked for again each time: %s', async (address) => {
    const { app } = shopApp();
    const first = await request(app).get(address).expect(200).expect('cache-control', 'no-cache');
    await request(app).get(address).set('if-none-match', String(first.headers.etag)).expect(304);
  });

  test.each(['jsconfig.json', 'nothing.css', '..%2froutes.ts', '%2e%2e%2fassets.ts', 'constructor'])(
    'nothing else of the machine is served: %s',
    async (name) => {
      await request(withErrors(shopApp().app)).get(`/shop/assets/${name}`).expect(404);
    },
  );

  test.each(PICTURES)('%s is a drawing and nothing but a drawing', (name) => {
    const drawing = readFileSync(new URL(name, FOLDER), 'utf8');
    expect(drawing).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 320 240"/);
    expect(drawing).not.toMatch(/<script|<style|<foreignObject|<image|href|\son[a-z]+=|url\((?!#)/i);
  });
});
