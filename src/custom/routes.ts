import type { Router } from 'express';
import type { Program } from '../compose.ts';

/**
 * Replace this line to add your own routes, for example `export const routes = ({ database }:
 * Program) => Router().get('/stock', …);`
 */
export const routes: ((program: Program) => Router) | null = null;
