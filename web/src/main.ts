import { mount } from 'svelte';
import App from './App.svelte';
import { registerWorker } from './lib/worker';
import './styles/index.css';

const target = document.getElementById('app');
if (target) mount(App, { target });
if (import.meta.env.PROD) void registerWorker();
