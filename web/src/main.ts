import { mount } from 'svelte';
import App from './App.svelte';
import { openFromWorker } from './lib/push.svelte';
import { registerWorker } from './lib/worker';
import './styles/index.css';

const target = document.getElementById('app');
if (target) mount(App, { target });
if (import.meta.env.PROD) void registerWorker();
navigator.serviceWorker?.addEventListener('message', (event) => openFromWorker(event.data));
