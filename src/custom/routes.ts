import type { Router } from 'express';
import type { Program } from '../compose.ts';

/**
 * The line to replace for addresses of your own, for example
 * `export const routes = ({ database }: Program) => Router().get('/stock', …);`
 */
export const routes: ((program: Program) => Router) | null = null;
