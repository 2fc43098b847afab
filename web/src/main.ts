import { mount } from 'svelte';
import App from './App.svelte';
import './styles/index.css';

const target = document.getElementById('app');
if (target) mount(App, { target });

if (import.meta.env.PROD && 'serviceWorker' in navigator && location.protocol === 'https:') {
  void navigator.serviceWorker.register('/service-worker.js').catch(() => {});
}
